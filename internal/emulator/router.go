package emulator

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// bodyRule says whether an operation takes a body.
type bodyRule int

const (
	noBody bodyRule = iota // A POST still takes {}, which says as little.
	optionalBody
	requiredBody
)

// route is one operation of the API. Each area's file lists its routes.
type route struct {
	operation string
	method    string
	pattern   string   // Full path; "{name}" stands for one segment.
	query     []string // Query parameters that may be sent, once each.
	repeated  []string // Query parameters that may be sent several times.
	body      bodyRule
	maxBody   int                  // Bytes of a body; 0 means the usual number.
	admit     func(*request) error // Refuses callers before their query and body are looked at; nil admits all.
	handle    func(*request) (reply, error)

	segments []string
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

// allRoutes are the operations of the API. Literal paths are matched before those with parameters.
func allRoutes() []route {
	var routes []route
	for _, a := range areas() {
		routes = append(routes, a.routes...)
	}
	for i := range routes {
		routes[i].segments = strings.Split(routes[i].pattern, "/")
	}
	slices.SortStableFunc(routes, func(a, b route) int {
		return strings.Count(a.pattern, "{") - strings.Count(b.pattern, "{")
	})
	return routes
}

// bodyLimit is the largest body of a request, also of one without a route.
func (rt *route) bodyLimit() int {
	if rt == nil || rt.maxBody == 0 {
		return maxBody
	}
	return rt.maxBody
}

// match finds the route of a request and the values of its path parameters. Without one it returns the methods
// that the path knows. Segments are decoded after they are split, so a "%2F" never changes the route.
func (e *Emulator) match(r *http.Request) (*route, map[string]string, []string) {
	var segments []string
	for s := range strings.SplitSeq(r.URL.EscapedPath(), "/") {
		value, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, nil
		}
		segments = append(segments, value)
	}
	var allowed []string
	for i := range e.routes {
		params, ok := e.routes[i].matchPath(segments)
		if !ok {
			continue
		}
		if e.routes[i].method == r.Method {
			return &e.routes[i], params, nil
		}
		if !slices.Contains(allowed, e.routes[i].method) {
			allowed = append(allowed, e.routes[i].method)
		}
	}
	slices.Sort(allowed)
	return nil, nil, allowed
}

func (rt *route) matchPath(segments []string) (map[string]string, bool) {
	if len(segments) != len(rt.segments) {
		return nil, false
	}
	params := map[string]string{}
	for i, s := range rt.segments {
		switch {
		case strings.HasPrefix(s, "{"):
			if segments[i] == "" {
				return nil, false
			}
			params[strings.Trim(s, "{}")] = segments[i]
		case s != segments[i]:
			return nil, false
		}
	}
	return params, true
}
