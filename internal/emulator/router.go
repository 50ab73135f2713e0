package emulator

import (
	"fmt"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// route is one operation of the API. Each area's file lists its routes; the contract says what a request looks like.
type route struct {
	operation string
	maxBody   int                  // Bytes of a body; 0 means the usual number.
	unknown   int                  // The status of an unknown word; 0 means 400.
	admit     func(*request) error // Refuses callers before their query and body are looked at; nil admits all.
	handle    func(*request) (reply, error)

	pattern string // Of the contract: the full path; "{name}" stands for one segment.
}

// area is a part of the API: its operations, and what the database holds for them.
type area struct {
	routes []route
	tables []anyTable
}

// areas is the whole API. To add an area, write a file with a function that returns its routes and tables, and add a line here.
func areas() []area {
	return []area{
		computerArea(),
		serviceAccountArea(),
		environmentArea(),
		analyticsArea(),
		organizationArea(),
		sessionArea(),
		ciArea(),
		wikiArea(),
	}
}

// allTables is what the database holds, except what the emulator knows about itself.
func allTables() []anyTable {
	var tables []anyTable
	for _, a := range areas() {
		tables = append(tables, a.tables...)
	}
	return tables
}

// allRoutes are the operations of the contract, by their ID.
func allRoutes(doc *contract.Document) (map[string]*route, error) {
	routes := map[string]*route{}
	for _, a := range areas() {
		for _, rt := range a.routes {
			routes[rt.operation] = &rt
		}
	}
	for _, o := range doc.Operations() {
		if routes[o.ID] == nil {
			return nil, fmt.Errorf("the emulator has no operation %s", o.ID)
		}
		routes[o.ID].pattern = o.Path
	}
	return routes, nil
}

// bodyLimit is the largest body of a request, also of one without a route.
func (rt *route) bodyLimit() int {
	if rt == nil || rt.maxBody == 0 {
		return maxBody
	}
	return rt.maxBody
}
