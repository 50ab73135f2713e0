package computer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestComputer_faultMatrix_slow(t *testing.T) {
	acctest.Slow(t)
	t.Parallel()
	acctest.Matrix{
		Type: "agentyard_computer",
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{
				{"name": "m", "provider_type": "managed-a", "repos": []any{"https://git.example/acme/app"}},
				{"name": "renamed", "provider_type": "managed-a", "repos": []any{"https://git.example/acme/app"}, "host_id": hostA},
				{"name": "renamed", "provider_type": "managed-a", "repos": []any{"https://git.example/acme/tools"}, "host_id": hostA},
			}
		},
		Live: computerIDs,
	}.Run(t)
}

// A computer may be deleted between plan and apply. Its ID is right, so the error does not ask the user to check it.
func TestComputer_updateOfAGoneOneSaysPlanAgain(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p, i := e.Created(t, computerType, acctest.Values{"name": "a"})
	e.Faults().Add(emulator.Fault{Operation: "updateComputer", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusNotFound})
	out := p.Apply(i, acctest.Values{"name": "b"})
	if text := out.Text(); !strings.Contains(text, "plan again") {
		t.Errorf("the error: %s", text)
	}
}

func TestComputer_faultMatrixOfAnOwnMachine(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: "agentyard_computer",
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{{"name": "own", "provider_type": "byom", "host_id": hostA}, {"name": "renamed", "provider_type": "byom", "host_id": hostA}}
		},
		Live: computerIDs,
	}.Run(t)
}

// The service may return a new object only after a delay. The wait must not treat that as a delete.
func TestComputer_shownLate(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "createComputer", Kind: emulator.FaultNotFoundAfterCreate, Reads: 2})
	_, i := e.Created(t, computerType, acctest.Values{"name": "late"})
	if i.Attribute("status") != "active" {
		t.Errorf("the status is %q", i.Attribute("status"))
	}
}

func TestComputer_aWaitWithoutOneAnswerKnowsTheStatusFromTheStart(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for _, operation := range []string{"getComputer", "listComputers"} {
		after := 0
		if operation == "listComputers" {
			after = 1 // The create first lists the existing computers.
		}
		e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: after, Times: -1})
	}
	p := acctest.NewProcess(t, e, nil)
	out := p.Apply(p.NewInstance("agentyard_computer"), acctest.Values{"name": "a", "timeouts": map[string]any{"create": "2m"}})
	acctest.Says(t, out.Text(), `the status is still "provisioning" after 2m`, "the last request failed: getComputer", "returned 500")
}

// quickSetUp makes the emulator provision computers in about a second of real time.
func quickSetUp(o *emulator.Options) { o.Provisioning.Step = 200 * time.Millisecond }

// leastPause is the time between two shared polls of one account's computers.
const leastPause = 500 * time.Millisecond

func TestComputer_waitsShareTheirLooks(t *testing.T) {
	t.Parallel()
	const n = 100
	e := acctest.NewRealTime(t, quickSetUp)
	begin := time.Now()
	p := acctest.NewProcess(t, e, nil)
	done := make(chan string)
	for k := range n {
		go func() {
			i := p.NewInstance(computerType)
			done <- p.Apply(i, acctest.Values{"name": fmt.Sprint("c", k)}).Text()
		}()
	}
	for range n {
		if text := <-done; text != "" {
			t.Error(text)
		}
	}
	// Even on a slow machine, shared waits poll at most once per pause. Separate waits would each poll at least once.
	looks, pauses := e.Journal().Count("listComputers")+e.Journal().Count("getComputer"), int(time.Since(begin)/leastPause)
	t.Logf("%d computers: %d looks in %d pauses", n, looks, pauses)
	if looks > pauses || looks == 0 {
		t.Errorf("%d looks in %d pauses of %s", looks, pauses, leastPause)
	}
}

func TestComputer_interruptedWaitIsNotTainted(t *testing.T) {
	t.Parallel()
	for typeName, tc := range map[string]struct {
		config  acctest.Values
		summary string
	}{
		computerType: {acctest.Values{"name": "interrupted"}, "Interrupted Before the Computer Was Active"},
		fleetType:    {fleetOf(1), "Interrupted Before the Fleet Was Active"},
	} {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			var p *acctest.Process
			// A single computer is polled by ID, so the first such request means that the wait has started.
			e := acctest.New(t, neverSetUp, acctest.Meanwhile("GET /api/v0/computers/", func(int) { p.Stop() }))
			p = acctest.NewProcess(t, e, nil)
			i := p.NewInstance(typeName)
			out := p.Apply(i, tc.config)
			if out.MustDo(t, acctest.ActionCreate); !strings.Contains(out.WarningText(), tc.summary) || i.Tainted {
				t.Errorf("tainted %v: %s", i.Tainted, out)
			}
			only(t, e)
			e.Plan(t, i, tc.config).MustDo(t, acctest.ActionNone)
		})
	}
}

// neverSetUp makes provisioning take longer than any test waits.
func neverSetUp(o *emulator.Options) { o.Provisioning.Step = 1e12 }

// A computer may be deleted between the plan and its delete.
func TestComputer_goneBetweenPlanAndDestroy(t *testing.T) {
	t.Parallel()
	for typeName, config := range map[string]acctest.Values{computerType: {"name": "gone"}, fleetType: fleetOf(3)} {
		e := acctest.New(t)
		p, i := e.Created(t, typeName, config)
		e.Faults().Add(emulator.Fault{Operation: "deleteComputer", Kind: emulator.FaultStatusAfterCommit, Status: http.StatusNotFound, Times: 2})
		p.Destroy(i).MustDo(t, acctest.ActionDelete)
		if left := computers(e); len(left) > 0 || !i.State.IsNull() {
			t.Errorf("left: %+v; the state is %s", left, i.State)
		}
	}
}

func TestAccComputer_planSharesItsReads(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	cfg := e.Config("resource \"agentyard_computer\" \"test\" {\n  count = 50\n  name = \"c-${count.index}\"\n  provider_type = \"byom\"\n}")
	e.Run(t,
		resource.TestStep{Config: cfg},
		resource.TestStep{PreConfig: e.Journal().Reset, Config: cfg, PlanOnly: true},
	)
	reads := 0
	for _, entry := range e.Journal().Entries() {
		if entry.Method == http.MethodGet {
			reads++
		}
	}
	t.Logf("%d reads for the plans of 50 computers and their destruction", reads)
	// One plan for the step and one before the destroy, with two requests each.
	if reads > 8 {
		t.Errorf("%d reads", reads)
	}
}

// When the emulator runs a command, it provisions computers immediately. A module test then waits only until the first poll,
// which takes less than a second. The computers of a fleet share their polls.
func TestComputer_costsATestLessThanASecond(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]acctest.Values{
		"agentyard_computer":       {"name": "a", "repos": []any{"https://git.example/acme/app"}, "auto_install_deps": true},
		"agentyard_computer_fleet": {"name_prefix": "ci", "quantity": 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(opts *emulator.Options) { opts.Provisioning.Step, opts.MaxPageSize = time.Millisecond, 100 })
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(name)
			p.Apply(i, config).MustSucceed(t)
			for _, c := range computers(e) {
				if c.Status != "active" {
					t.Errorf("%s is %s", c.Name, c.Status)
				}
			}
			p.Destroy(i).MustSucceed(t)
			if took := e.Now().Sub(acctest.Start); took >= time.Second {
				t.Errorf("the creation and the destruction waited %v", took)
			}
		})
	}
}
