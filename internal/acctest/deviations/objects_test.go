// Package deviations tests what the provider makes of responses that differ from the contract as those of a real service may, and
// that each field of the contract reaches an attribute. Both are derived from the contract, so a new field is tested by itself.
package deviations

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

type values = acctest.Values

// organization has at least two objects of each kind, and a service that varies responses in front of it.
type organization struct {
	*acctest.Organization
	*service
}

func newOrganization(t testing.TB, pageSize int) organization {
	t.Helper()
	s := &service{}
	o := acctest.NewOrganization(t, acctest.New(t, acctest.Wrap(s.layer), func(o *emulator.Options) {
		o.SessionDelay, o.SessionListDelay, o.MessageDelay, o.MaxPageSize = -1, -1, -1, pageSize
	}))
	o.Furnish()
	return organization{o, s}
}

// flatten returns the leaves of a value by path.
func flatten(into map[string]string, path string, v tftypes.Value) {
	attributes := map[string]tftypes.Value{}
	var elements []tftypes.Value
	switch {
	case v.IsNull() || !v.IsKnown():
		into[path] = "null"
	case v.As(&attributes) == nil:
		for name, inner := range attributes {
			flatten(into, path+"."+name, inner)
		}
	case !v.Type().Is(tftypes.Set{}) && v.As(&elements) == nil:
		into[path] = "list"
		for n, inner := range elements {
			flatten(into, path+"["+strconv.Itoa(n)+"]", inner)
		}
	default:
		into[path] = v.String()
	}
}

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
		check.Says(t, got.out.Text(), entry.Operation, "403")
	}
}

// Actions report the same progress, or an error that names the operation and the field.
func testActions(t *testing.T, document *contract.Document) {
	for _, row := range specimens.Operations {
		if row.IsNoAction {
			continue
		}
		t.Run(row.Title(), func(t *testing.T) {
			t.Parallel()
			invoke := func(v *variation) (organization, string, acctest.Outcome) {
				o := newOrganization(t, 0) // Most actions work once.
				p := acctest.NewProcess(t, o.Env, nil)
				config := o.In(row.Values)
				o.vary(v, false)
				progress, out := p.Invoke(row.Type, config)
				return o, masked(progress, out), out
			}
			o, plain, out := invoke(nil)
			if len(out.Errors) > 0 {
				t.Fatalf("the plain action fails: %s", out)
			}
			for _, v := range o.variations(document, o.seen()) {
				_, progress, out := invoke(&v)
				v.checkErrors(t, out)
				v.hasEffect(len(out.Errors) > 0 || progress != plain)
			}
		})
	}
}

// subject is a resource and its configurations, of which the second one updates it in place.
type subject struct {
	organization
	*testing.T

	process *acctest.Process
	name    string
	configs []values
}

// stateOf returns what a state shows.
func stateOf(i *acctest.Instance, out acctest.Outcome) reading {
	attributes := map[string]tftypes.Value{}
	if !i.State.IsNull() {
		_ = i.State.As(&attributes) // It is an object.
	}
	return readingOf(attributes, out)
}

// isFilledOtherwise reports whether other attributes are null.
func (r reading) isFilledOtherwise(other reading) bool {
	for path, value := range r.leaves {
		if (value == "null") != (other.leaves[path] == "null") {
			return true
		}
	}
	return len(r.leaves) != len(other.leaves)
}

// step runs one step of a resource's life with a variation; nil for none.
func (s subject) step(v *variation, step func() acctest.Outcome) acctest.Outcome {
	s.Helper()
	s.vary(v, false)
	s.process.Restart()
	out := step()
	if v == nil && len(out.Errors) > 0 {
		s.Fatalf("a plain step fails: %s", out)
	}
	return out
}

func (s subject) apply(v *variation, i *acctest.Instance, config values) acctest.Outcome {
	s.Helper()
	return s.step(v, func() acctest.Outcome { return s.process.Apply(i, config) })
}

func (s subject) create() *acctest.Instance {
	s.Helper()
	i := s.process.NewInstance(s.name)
	s.apply(nil, i, s.configs[0])
	return i
}

func testResources(t *testing.T, document *contract.Document) {
	for _, r := range specimens.Resources {
		full, changed := r.FullOrLeast()
		test := func(name string, isWritten bool, configs ...values) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				o := newOrganization(t, 0)
				s := subject{organization: o, T: t, process: acctest.NewProcess(t, o.Env, nil), name: r.Type}
				for _, config := range configs {
					s.configs = append(s.configs, o.In(config))
				}
				i, read := s.refreshes(document)
				if isWritten {
					s.destroy(i)
					s.writes(document, read)
					return
				}
				for _, config := range s.configs[1:] {
					s.apply(nil, i, config)
				}
			})
		}
		test(r.Title(), r.Name == "", full, changed)
		if r.Full != nil {
			test(r.Title()+" with the fewest arguments", false, r.Least, r.Changed)
		}
		for name, configs := range r.More {
			test(r.Type+" "+name, false, configs...)
		}
	}
}

// refreshes varies the responses of a plan without a change. Such a plan stays empty, or shows the varied field. It returns the
// resource, and the operations whose responses it varied.
func (s subject) refreshes(document *contract.Document) (*acctest.Instance, map[string]bool) {
	i := s.create()
	plan := func(v *variation) (reading, acctest.Outcome) {
		again := i.Clone()
		out := s.step(v, func() acctest.Outcome { return s.process.Plan(again, s.configs[0]) })
		return stateOf(again, out), out
	}
	plain, out := plan(nil)
	if out.Action != acctest.ActionNone {
		s.Fatalf("the plan is not empty: %s", out)
	}
	read := map[string]bool{}
	for _, v := range s.variations(document, s.seen()) {
		read[v.operation] = true
		got, out := plan(&v)
		v.check(s.T, plain, got)
		changed := plain.differences(got)
		switch {
		case len(out.Errors) > 0 || out.Action == acctest.ActionNone || isIn(tolerated, v.key()):
		case v.kind == null && v.isList:
			// What is not listed does not exist.
		case len(changed) == 0 || out.Action == acctest.ActionCreate:
			s.Errorf("%s: the plan is to %s without a difference", v, out.Action)
		}
	}
	return i, read
}

func (s subject) destroy(i *acctest.Instance) {
	s.Helper()
	s.step(nil, func() acctest.Outcome { return s.process.Destroy(i) })
}

// writes varies the responses during a creation and an update, but those of the operations that a refresh reads. What is created
// is in the state or in an error, and the next apply settles it.
func (s subject) writes(document *contract.Document, read map[string]bool) {
	i := s.process.NewInstance(s.name)
	var seen []exchange
	var plain []reading
	for _, config := range s.configs {
		out := s.apply(nil, i, config)
		plain = append(plain, stateOf(i, out))
		seen = append(seen, s.seen()...)
	}
	s.destroy(i)
	for _, v := range grouped(s.variations(document, append(seen, s.seen()...))) {
		if read[v.operation] {
			continue
		}
		i := s.process.NewInstance(s.name)
		var out acctest.Outcome
		for n, config := range s.configs {
			out = s.apply(&v, i, config)
			v.checkErrors(s.T, out)
			v.hasEffect(len(out.Errors) > 0 || stateOf(i, out).isFilledOtherwise(plain[n]))
		}
		if i.State.IsNull() {
			if len(out.Errors) == 0 {
				s.Errorf("%s: nothing is in the state, and there is no error", v)
			}
			continue
		}
		s.settles(v, i)
		v.checkErrors(s.T, s.step(&v, func() acctest.Outcome { return s.process.Destroy(i) }))
		if !i.State.IsNull() {
			s.destroy(i)
		}
	}
}

// settles checks that without a variation, the next apply creates nothing again, and is the last one.
func (s subject) settles(v variation, i *acctest.Instance) {
	s.Helper()
	last, wasTainted := s.configs[len(s.configs)-1], i.Tainted
	if out := s.apply(nil, i, last); !wasTainted && (out.Action == acctest.ActionReplace || out.Action == acctest.ActionCreate) {
		s.Errorf("%s: the next apply is to %s", v, out.Action)
	}
	if out := s.step(nil, func() acctest.Outcome { return s.process.Plan(i, last) }); out.Action != acctest.ActionNone {
		s.Errorf("%s: the plan after the next apply is to %s", v, out.Action)
	}
}
