package deviations

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func (v variation) isPaging() bool {
	return len(v.path) == 2 && (v.path[0] == "pagination" || v.path[0] == "meta")
}

func (o organization) read(p *acctest.Process, kind, typeName string, config values) reading {
	p.Restart()
	switch kind {
	case "data":
		return readingOf(p.ReadData(typeName, config))
	case "list":
		resources, out := p.List(typeName, config)
		r := reading{map[string]string{}, out}
		for _, resource := range resources {
			one := map[string]string{}
			flatten(one, "", resource)
			for path, value := range one {
				r.leaves["["+one[".id"]+"]"+path] = value // Nothing keeps the order of a query's results.
			}
		}
		return r
	}
	opened := readingOf(p.Open(typeName, config))
	for path, value := range opened.leaves {
		if value != "null" {
			opened.leaves[path] = "set" // Each opening gives another value.
		}
	}
	return opened
}

func testReads(t *testing.T, document *contract.Document) {
	for kind, rows := range map[string][]specimens.Read{"data": specimens.Data, "list": specimens.Lists, "ephemeral": specimens.Ephemerals} {
		for _, row := range rows {
			t.Run(kind+"/"+row.Title(), func(t *testing.T) {
				t.Parallel()
				pageSize := 0
				if row.Paged {
					pageSize = 2
				}
				o := newOrganization(t, pageSize)
				config := o.In(row.Values)
				p := acctest.NewProcess(t, o.Env, nil)
				read := func(v *variation) reading {
					o.vary(v, true)
					return o.read(p, kind, row.Type, config)
				}
				plain := read(nil)
				if len(plain.out.Errors) > 0 || len(plain.leaves) == 0 {
					t.Fatalf("the plain read fails: %s", plain.out)
				}
				for _, v := range o.variations(document, o.seen()) {
					if row.Paged && !v.isPaging() {
						continue
					}
					got := read(&v)
					if v.kind == null && v.isList {
						empty := v.emptied()
						if none := read(&empty); got.out.Text() == none.out.Text() && len(none.differences(got)) == 0 {
							continue
						}
					}
					v.check(t, plain, got)
				}
				if !row.Paged {
					o.testRefusals(t, row.Title(), func() reading { return read(nil) })
				}
			})
		}
	}
}

// oneOfTwo are the data sources that read one object from its listing, or by its ID.
var oneOfTwo = []string{"agentyard_computer", "agentyard_session on its computer"}

// testRefusals checks that a refused read is an error that names the operation and the status.
func (o organization) testRefusals(t *testing.T, row string, read func() reading) {
	t.Helper()
	o.Journal().Reset()
	read()
	for _, entry := range o.Journal().Entries() {
		if entry.Operation == "listComputerProviders" && strings.HasPrefix(row, "agentyard_analytics_") {
			continue // It is asked only for the service's time, and this machine's clock replaces that.
		}
		o.Faults().Add(emulator.Fault{Operation: entry.Operation, Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusForbidden, Times: -1})
		got := read()
		o.Faults().Clear()
		if len(got.out.Errors) == 0 && slices.Contains(oneOfTwo, row) {
			continue
		}
		if len(got.out.Errors) != 1 {
			t.Errorf("403 of %s: %s", entry.Operation, got.out)
		}
		acctest.Says(t, got.out.Text(), entry.Operation, "403")
	}
}
