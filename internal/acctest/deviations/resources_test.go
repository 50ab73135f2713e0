package deviations

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

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
			var more []values
			for _, config := range configs {
				more = append(more, config)
			}
			test(r.Type+" "+name, false, more...)
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
