package acctest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Matrix injects every fault into every request of every step of a resource's life. It checks that the next apply without
// faults converges, with nothing duplicated, orphaned, or lost.
type Matrix struct {
	// Type is the resource type.
	Type string
	// Env is the emulator before the first step. Each case begins with a copy.
	Env *Env
	// Steps are the configurations to apply in order: the first creates, the others update or replace. The destroy follows.
	Steps []Values
	// Before prepares a step, for example with changes outside Terraform. It may be nil.
	Before func(e *Env, step int)
	// From is the first step with faults. Another matrix may cover the steps before it.
	From int
	// Live returns the IDs of all objects in the emulator that the steps may have created. What existed before the first step is left out.
	// Nil if the emulator shows none.
	Live func(e *Env) []string
	// Verify runs additional checks after convergence, such as that a key in the state authenticates. It may be nil.
	Verify func(t *testing.T, e *Env, i *Instance)
	// Nameless means that the objects have no unique name, so a killed run may leave one object behind.
	Nameless bool
	// Adopt follows the advice of an apply that failed because of an object from a killed run. If nil, it is the import of the object.
	Adopt func(t *testing.T, e *Env, errorText, id string)
}

// step is what a step begins with, its configuration, which is nil for the destroy, and the operations that it calls without faults.
type step struct {
	env        *Env
	instance   *Instance
	config     Values
	operations []string
}

// fewRetries are the settings of every process. They keep the default timeout, so that no request times out on a busy
// machine.
var fewRetries = Values{"max_retries": 2}

// isRead reports whether an operation changes nothing.
func isRead(operation string) bool {
	return strings.HasPrefix(operation, "get") || strings.HasPrefix(operation, "list")
}

// faults are what can happen to one request. One status stands for those that are repeated, a lost response for a timeout, and a read
// that always fails for one that is repeated: internal/client/transport proves it.
func faults(operation string) map[string]emulator.Fault {
	cases := map[string]emulator.Fault{}
	for suffix, times := range map[string]int{"once": 1, "always": -1} {
		for name, f := range map[string]emulator.Fault{
			"503 before commit":     {Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusServiceUnavailable},
			"503 after commit":      {Kind: emulator.FaultStatusAfterCommit, Status: http.StatusServiceUnavailable},
			"dropped before commit": {Kind: emulator.FaultDropBeforeCommit},
			"dropped after commit":  {Kind: emulator.FaultDropAfterCommit},
			"truncated":             {Kind: emulator.FaultTruncatedBody},
			"not JSON":              {Kind: emulator.FaultNonJSON},
			"rate limited":          {Kind: emulator.FaultRateLimited},
		} {
			if isRead(operation) && (times == 1 || strings.HasSuffix(name, "after commit")) {
				continue
			}
			f.Operation, f.Times = operation, times
			cases[name+" "+suffix] = f
		}
	}
	return cases
}

// Run runs all cases in parallel and logs their number.
func (m Matrix) Run(t *testing.T) {
	t.Helper()
	var cases, held atomic.Int64
	t.Cleanup(func() { t.Logf("fault matrix of %s: %d cases, %d held", m.Type, cases.Load(), held.Load()) })
	run := func(name string, body func(t *testing.T)) {
		cases.Add(1)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body(t)
			if !t.Failed() {
				held.Add(1)
			}
		})
	}
	steps := m.dryRun(t)
	for n, s := range steps {
		if n < m.From {
			continue
		}
		for _, operation := range slices.Compact(slices.Sorted(slices.Values(s.operations))) {
			for name, fault := range faults(operation) {
				run(fmt.Sprintf("step %d/%s/%s", n, operation, name), func(t *testing.T) { m.faultCase(t, s, fault) })
			}
		}
		for k, operation := range s.operations {
			run(fmt.Sprintf("step %d/interrupted at request %d", n, k), func(t *testing.T) { m.interruptCase(t, s, k) })
			for _, kind := range []emulator.FaultKind{emulator.FaultDropBeforeCommit, emulator.FaultDropAfterCommit} {
				if isRead(operation) && kind == emulator.FaultDropAfterCommit {
					continue
				}
				run(fmt.Sprintf("step %d/killed at request %d/%s", n, k, kind), func(t *testing.T) { m.killCase(t, s, k, kind) })
			}
		}
	}
}

// dryRun carries out the steps without faults. The last one is the destroy.
func (m *Matrix) dryRun(t *testing.T) (steps []step) {
	t.Helper()
	e, i := m.Env, m.Env.NewInstance(t, m.Type)
	if m.Live != nil {
		m.leaveOut(m.Live(e))
	}
	for n, config := range append(m.Steps, nil) {
		if m.Before != nil {
			m.Before(e, n)
		}
		s := step{env: e.Copy(t), instance: i.Clone(), config: config}
		p := NewProcess(t, e, fewRetries)
		e.Journal().Reset()
		if out := p.Apply(i, config); len(out.Errors) > 0 {
			t.Fatalf("step %d without faults: %s", n, out)
		}
		for _, entry := range e.Journal().Entries() {
			s.operations = append(s.operations, entry.Operation)
		}
		if len(s.operations) == 0 {
			t.Fatalf("step %d sends no request", n)
		}
		if m.Live != nil && config != nil && len(m.live(e)) == 0 {
			t.Fatalf("Live does not show what step %d left", n)
		}
		steps = append(steps, s)
	}
	return steps
}

func (m Matrix) live(e *Env) []string {
	if m.Live == nil {
		return nil
	}
	return m.Live(e)
}

// leaveOut lets Live no longer return these IDs.
func (m *Matrix) leaveOut(ids []string) {
	all := *m
	m.Live = func(e *Env) []string { return without(all.live(e), ids) }
}

func without(all, some []string) []string {
	return slices.DeleteFunc(all, func(one string) bool { return slices.Contains(some, one) })
}

// orphans returns the IDs of the objects in the emulator that are not in the state.
func (m Matrix) orphans(t *testing.T, e *Env, i *Instance) []string {
	return without(m.live(e), texts(Plain(t, i.State)))
}

// texts returns all values in a value of Plain as texts.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			all = append(all, texts(inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, texts(inner)...)
		}
	default:
		all = []string{fmt.Sprint(v)}
	}
	return all
}

func (m Matrix) faultCase(t *testing.T, s step, fault emulator.Fault) {
	e, i := s.env.Copy(t), s.instance.Clone()

	named := []string{fault.Operation}
	if fault.Kind == emulator.FaultRateLimited {
		named = s.operations // All requests share the wait.
	}
	p := NewProcess(t, e, fewRetries)
	e.Faults().Add(fault)
	broken := p.Apply(i, s.config)
	e.Faults().Clear()
	for _, d := range broken.Errors {
		names := slices.ContainsFunc(named, func(operation string) bool { return strings.Contains(d.Summary+d.Detail, operation) })
		if !names || len(d.Detail) < 40 {
			t.Errorf("the error names none of the operations %v, or says too little: %s: %s", named, d.Summary, d.Detail)
		}
	}

	if out := NewProcess(t, e, fewRetries).Apply(i, s.config); len(out.Errors) > 0 {
		t.Fatalf("after the fault (which gave: %s)\nthe next apply does not converge: %s", broken, out)
	}
	m.settled(t, e, i, s)
	m.destroy(t, e, i)
}

// killCase drops everything the provider would have returned, and every request after the k-th.
func (m Matrix) killCase(t *testing.T, s step, k int, kind emulator.FaultKind) {
	e, i := s.env.Copy(t), s.instance.Clone()

	killed := NewProcess(t, e, fewRetries)
	e.Faults().Add(emulator.Fault{Kind: kind, After: k}, emulator.Fault{Kind: emulator.FaultDropBeforeCommit, After: k, Times: -1})
	killed.Apply(i.Clone(), s.config) // The state on disk stays.
	e.Faults().Clear()

	out := NewProcess(t, e, fewRetries).Apply(i, s.config)
	if len(out.Errors) > 0 {
		orphans := m.orphans(t, e, i)
		if len(orphans) == 0 {
			t.Fatalf("the next apply fails although nothing was left behind: %s", out)
		}
		for _, id := range orphans {
			m.adopt(t, e, i, out.Text(), id)
		}
		if out := NewProcess(t, e, fewRetries).Apply(i, s.config); len(out.Errors) > 0 {
			t.Fatalf("having done what the error asked for: %s", out)
		}
	}
	if orphans := m.orphans(t, e, i); m.Nameless && len(orphans) == 1 {
		m.leaveOut(orphans)
	}
	m.settled(t, e, i, s)
	m.destroy(t, e, i)
}

// interruptCase interrupts the run while the service answers the k-th request. What it has created is in the state, and stays. Of a wait
// that it had not begun, the next apply may report the failure.
func (m Matrix) interruptCase(t *testing.T, s step, k int) {
	var interrupt atomic.Pointer[func()]
	var requests atomic.Int64
	e, i := s.env.Copy(t, Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if stop := interrupt.Load(); stop != nil && fromProvider(r) && int(requests.Add(1)) == k+1 {
				(*stop)()
			}
		})
	})), s.instance.Clone()
	before := m.live(e)
	p := NewProcess(t, e, fewRetries)
	stop := p.Stop
	interrupt.Store(&stop)
	out := p.Apply(i, s.config)
	interrupt.Store(nil)
	created := without(m.live(e), before)
	if orphans := m.orphans(t, e, i); len(orphans) > 0 || i.Tainted {
		t.Errorf("tainted %t, not in the state: %v, after %s", i.Tainted, orphans, out)
	}
	if out = NewProcess(t, e, fewRetries).Apply(i, s.config); len(out.Errors) > 0 {
		out = NewProcess(t, e, fewRetries).Apply(i, s.config)
	}
	if replaced := without(created, m.live(e)); len(out.Errors)+len(replaced) > 0 {
		t.Fatalf("the next apply does not converge, or replaces %v: %s", replaced, out)
	}
	m.settled(t, e, i, s)
	m.destroy(t, e, i)
}

// advised is the import that an error recommends.
var advised = regexp.MustCompile(`terraform import ADDRESS (\S+)`)

func (m Matrix) adopt(t *testing.T, e *Env, i *Instance, text, id string) {
	t.Helper()
	if !strings.Contains(text, id) {
		t.Fatalf("%s was left behind, and the next apply's error does not name it: %s", id, text)
	}
	if m.Adopt != nil {
		m.Adopt(t, e, text, id)
		return
	}
	found := advised.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("the error does not say how to import %s: %s", id, text)
	}
	if out := NewProcess(t, e, fewRetries).Import(i, found[1]); len(out.Errors) > 0 {
		t.Fatalf("importing %s: %s", found[1], out)
	}
}

// settled checks that the plan is empty, that all was done, and that the state has all objects of the emulator.
func (m Matrix) settled(t *testing.T, e *Env, i *Instance, s step) {
	t.Helper()
	if out := NewProcess(t, e, fewRetries).Plan(i, s.config); out.Action != ActionNone || len(out.Errors) > 0 {
		t.Errorf("the plan after convergence is not empty: %s", out)
	}
	for _, operation := range s.operations {
		if !isRead(operation) && e.CarriedOut(operation) == 0 {
			t.Errorf("%s was not carried out", operation) // No read may show what it sets.
		}
	}
	if orphans := m.orphans(t, e, i); len(orphans) > 0 {
		t.Errorf("the emulator holds %v, the state is %s", orphans, i.State)
	}
	if m.Verify != nil && s.config != nil {
		m.Verify(t, e, i)
	}
}

func (m Matrix) destroy(t *testing.T, e *Env, i *Instance) {
	t.Helper()
	if i.State.IsNull() {
		return
	}
	if out := NewProcess(t, e, fewRetries).Destroy(i); len(out.Errors) > 0 {
		t.Fatalf("destroying: %s", out)
	}
	if live := m.live(e); len(live) > 0 {
		t.Errorf("after the destruction the emulator still holds %v", live)
	}
}
