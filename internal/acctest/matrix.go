package acctest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Matrix injects every fault into every request of every step of a resource's life. It checks that the next apply without
// faults converges, with nothing duplicated, orphaned, or lost.
type Matrix struct {
	// Type is the resource type.
	Type string
	// Options configure every emulator.
	Options []Option
	// Setup prepares each emulator and returns the configurations to apply in order: the first creates, the others update.
	Setup func(e *Env) []Values
	// Before prepares a step, for example with changes outside Terraform. It may be nil.
	Before func(e *Env, step int)
	// From is the first step with faults. Another matrix may cover the steps before it.
	From int
	// Live returns the IDs of all objects in the emulator that the configurations may have created. If nil, the listing of the specimen shows
	// them, or nothing is created if it has none.
	Live func(e *Env) []string
	// IDs returns the IDs in a state. If nil, the attribute "id" is used, or nothing if nothing is created.
	IDs func(i *Instance) []string
	// Verify runs additional checks after convergence, such as that a key in the state authenticates. It may be nil.
	Verify func(t *testing.T, e *Env, i *Instance)
	// Nameless means that the objects have no unique name, so a killed run may leave one object behind.
	Nameless bool
	// Adopt follows the advice of an apply that failed because of an object from a killed run. If nil, the object is imported by
	// ID.
	Adopt func(t *testing.T, e *Env, p *Process, i *Instance, errorText, id string)
}

// fewRetries are the settings of every process. They keep the default timeout, so that no request times out on a busy
// machine.
var fewRetries = Values{"max_retries": 2}

// faults are what can happen to one request. One status stands for those that are repeated, and a lost response for a timeout:
// internal/client/transport proves both.
func faults() map[string]emulator.Fault {
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
			f.Times = times
			cases[name+" "+suffix] = f
		}
	}
	return cases
}

// Run runs all cases in parallel and logs their number.
func (m Matrix) Run(t *testing.T) {
	t.Helper()
	m.complete()
	note(t, MatrixOf+m.Type)
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
	for n, operations := range steps {
		if n < m.From {
			continue
		}
		for _, operation := range slices.Compact(slices.Sorted(slices.Values(operations))) {
			for name, fault := range faults() {
				fault.Operation = operation
				run(fmt.Sprintf("step %d/%s/%s", n, operation, name), func(t *testing.T) { m.faultCase(t, n, len(steps)-1, fault, operations) })
			}
		}
		for k := range operations {
			run(fmt.Sprintf("step %d/interrupted at request %d", n, k), func(t *testing.T) { m.interruptCase(t, n, len(steps)-1, k) })
			for _, kind := range []emulator.FaultKind{emulator.FaultDropBeforeCommit, emulator.FaultDropAfterCommit} {
				run(fmt.Sprintf("step %d/killed at request %d/%s", n, k, kind), func(t *testing.T) { m.killCase(t, n, len(steps)-1, k, kind) })
			}
		}
	}
}

// complete adds the defaults of Live and IDs.
func (m *Matrix) complete() {
	listing := specimens.ResourceOf(m.Type).Listing
	creates := m.Live != nil || listing.Path != ""
	if m.Live == nil {
		m.Live = func(e *Env) []string {
			if !creates {
				return nil
			}
			return e.Listed(listing)
		}
	}
	if m.IDs == nil {
		m.IDs = func(i *Instance) []string {
			if id := i.ID(); creates && id != "" {
				return []string{id}
			}
			return nil
		}
	}
}

// dryRun returns the operations that each step calls without faults. The last step is the destroy.
func (m Matrix) dryRun(t *testing.T) [][]string {
	t.Helper()
	e := New(t, m.Options...)
	configs := append(m.Setup(e), nil)
	i := NewProcess(t, e, fewRetries).NewInstance(m.Type)
	var steps [][]string
	for n, config := range configs {
		m.before(e, n)
		p := NewProcess(t, e, fewRetries)
		e.Journal().Reset()
		if out := p.Apply(i, config); len(out.Errors) > 0 {
			t.Fatalf("step %d without faults: %s", n, out)
		}
		var operations []string
		for _, entry := range e.Journal().Entries() {
			operations = append(operations, entry.Operation)
		}
		if len(operations) == 0 {
			t.Fatalf("step %d sends no request", n)
		}
		steps = append(steps, operations)
	}
	return steps
}

func (m Matrix) faultCase(t *testing.T, n, last int, fault emulator.Fault, operations []string) {
	e, configs, i := m.advance(t, n)

	named := []string{fault.Operation}
	if fault.Kind == emulator.FaultRateLimited {
		named = operations // All requests share the wait.
	}
	p := NewProcess(t, e, fewRetries)
	e.Faults().Add(fault)
	broken := p.Apply(i, configs[n])
	e.Faults().Clear()
	for _, d := range broken.Errors {
		names := slices.ContainsFunc(named, func(operation string) bool { return strings.Contains(d.Summary+d.Detail, operation) })
		if !names || len(d.Detail) < 40 {
			t.Errorf("the error names none of the operations %v, or says too little: %s: %s", named, d.Summary, d.Detail)
		}
	}

	if out := NewProcess(t, e, fewRetries).Apply(i, configs[n]); len(out.Errors) > 0 {
		t.Fatalf("after the fault (which gave: %s)\nthe next apply does not converge: %s", broken, out)
	}
	m.settled(t, e, i, configs[n])
	m.destroy(t, e, i, n, last)
}

// killCase drops everything the provider would have returned, and every request after the k-th.
func (m Matrix) killCase(t *testing.T, n, last, k int, kind emulator.FaultKind) {
	e, configs, i := m.advance(t, n)
	onDisk := i.Clone()

	killed := NewProcess(t, e, fewRetries)
	e.Faults().Add(emulator.Fault{Kind: kind, After: k}, emulator.Fault{Kind: emulator.FaultDropBeforeCommit, After: k, Times: -1})
	killed.Apply(i, configs[n])
	e.Faults().Clear()
	i = onDisk

	out := NewProcess(t, e, fewRetries).Apply(i, configs[n])
	if len(out.Errors) > 0 {
		orphans := m.unknown(e, i)
		if len(orphans) == 0 {
			t.Fatalf("the next apply fails although nothing was left behind: %s", out)
		}
		for _, id := range orphans {
			if !strings.Contains(out.Text(), id) {
				t.Fatalf("%s was left behind, and the next apply's error does not name it: %s", id, out)
			}
			m.adopt(t, e, i, out.Text(), id)
		}
		if out := NewProcess(t, e, fewRetries).Apply(i, configs[n]); len(out.Errors) > 0 {
			t.Fatalf("having done what the error asked for: %s", out)
		}
	}
	if orphans := m.unknown(e, i); m.Nameless && len(orphans) == 1 {
		live := m.Live
		m.Live = func(e *Env) []string {
			return slices.DeleteFunc(live(e), func(id string) bool { return id == orphans[0] })
		}
	}
	m.settled(t, e, i, configs[n])
	m.destroy(t, e, i, n, last)
}

// interruptCase interrupts the run while the service answers the k-th request. What it has created is in the state, and stays. Of a wait
// that it had not begun, the next apply may report the failure.
func (m Matrix) interruptCase(t *testing.T, n, last, k int) {
	var interrupt atomic.Pointer[func()]
	var requests atomic.Int64
	m.Options = append(slices.Clone(m.Options), Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if stop := interrupt.Load(); stop != nil && fromProvider(r) && int(requests.Add(1)) == k+1 {
				(*stop)()
			}
		})
	}))
	e, configs, i := m.advance(t, n)
	before := m.IDs(i)
	p := NewProcess(t, e, fewRetries)
	stop := p.Stop
	interrupt.Store(&stop)
	out := p.Apply(i, configs[n])
	interrupt.Store(nil)
	created := slices.DeleteFunc(m.IDs(i), func(id string) bool { return slices.Contains(before, id) })
	if orphans := m.unknown(e, i); len(orphans) > 0 || i.Tainted {
		t.Errorf("tainted %t, not in the state: %v, after %s", i.Tainted, orphans, out)
	}
	if out = NewProcess(t, e, fewRetries).Apply(i, configs[n]); len(out.Errors) > 0 {
		out = NewProcess(t, e, fewRetries).Apply(i, configs[n])
	}
	if len(out.Errors) > 0 || slices.ContainsFunc(created, func(id string) bool { return !slices.Contains(m.IDs(i), id) }) {
		t.Fatalf("the next apply does not converge, or replaces %v: %s", created, out)
	}
	m.settled(t, e, i, configs[n])
	m.destroy(t, e, i, n, last)
}

func (m Matrix) adopt(t *testing.T, e *Env, i *Instance, text, id string) {
	t.Helper()
	p := NewProcess(t, e, fewRetries)
	if m.Adopt != nil {
		m.Adopt(t, e, p, i, text, id)
		return
	}
	if out := p.Import(i, id); len(out.Errors) > 0 {
		t.Fatalf("importing %s: %s", id, out)
	}
}

// advance applies the steps before n without faults and prepares step n.
func (m Matrix) advance(t *testing.T, n int) (*Env, []Values, *Instance) {
	t.Helper()
	e := New(t, m.Options...)
	configs := append(m.Setup(e), nil)
	i := NewProcess(t, e, fewRetries).NewInstance(m.Type)
	for step, config := range configs[:n] {
		m.before(e, step)
		if out := NewProcess(t, e, fewRetries).Apply(i, config); len(out.Errors) > 0 {
			t.Fatalf("before the fault: %s", out)
		}
	}
	m.before(e, n)
	return e, configs, i
}

func (m Matrix) before(e *Env, step int) {
	if m.Before != nil {
		m.Before(e, step)
	}
}

// settled checks that the plan is empty, and that the state and the emulator contain the same objects.
func (m Matrix) settled(t *testing.T, e *Env, i *Instance, config Values) {
	t.Helper()
	if out := NewProcess(t, e, fewRetries).Plan(i, config); out.Action != ActionNone || len(out.Errors) > 0 {
		t.Errorf("the plan after convergence is not empty: %s", out)
	}
	live, known := slices.Sorted(slices.Values(m.Live(e))), slices.Sorted(slices.Values(m.IDs(i)))
	if !slices.Equal(live, known) {
		t.Errorf("the emulator holds %v, the state %v", live, known)
	}
	if m.Verify != nil && config != nil {
		m.Verify(t, e, i)
	}
}

func (m Matrix) destroy(t *testing.T, e *Env, i *Instance, n, last int) {
	t.Helper()
	if n == last {
		return
	}
	if out := NewProcess(t, e, fewRetries).Apply(i, nil); len(out.Errors) > 0 {
		t.Fatalf("destroying: %s", out)
	}
	if live := m.Live(e); len(live) > 0 {
		t.Errorf("after the destruction the emulator still holds %v", live)
	}
}

func (m Matrix) unknown(e *Env, i *Instance) []string {
	known := m.IDs(i)
	return slices.DeleteFunc(m.Live(e), func(id string) bool { return slices.Contains(known, id) })
}
