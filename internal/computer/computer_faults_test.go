package computer_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func computerIDs(e *acctest.Env) []string {
	var ids []string
	for _, c := range computers(e) {
		ids = append(ids, c.ID)
	}
	return ids
}

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

// A computer may go between the plan and the apply: its ID is right, so nobody need check it.
func TestComputer_updateOfAGoneOneSaysPlanAgain(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance("agentyard_computer")
	if out := p.Apply(i, acctest.Values{"name": "a"}); len(out.Errors) > 0 {
		t.Fatal(out)
	}
	e.Faults().Add(emulator.Fault{Operation: "updateComputer", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusNotFound})
	out := p.Apply(i, acctest.Values{"name": "b"})
	if text := out.Text(); !strings.Contains(text, "Plan again") || strings.Contains(text, "Check the IDs") {
		t.Errorf("the error: %s", text)
	}
}

func TestComputer_faultMatrixOfAnOwnMachine(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: "agentyard_computer",
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{{"name": "own", "provider_type": "byom", "host_id": hostA}}
		},
		Live: computerIDs,
	}.Run(t)
}

// A new object may be shown late; the wait must not take that for its end.
func TestComputer_shownLate(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "createComputer", Kind: emulator.FaultNotFoundAfterCreate, Reads: 2})
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance("agentyard_computer")
	if out := p.Apply(i, acctest.Values{"name": "late"}); len(out.Errors) > 0 {
		t.Fatal(out)
	}
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
			after = 1 // The creation looks what there is.
		}
		e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: after, Times: -1})
	}
	p := acctest.NewProcess(t, e, nil)
	out := p.Apply(p.NewInstance("agentyard_computer"), acctest.Values{"name": "a", "timeouts": map[string]any{"create": "2m"}})
	for _, want := range []string{`the status is still "provisioning" after 2m`, "the last request failed: getComputer", "returned 500"} {
		if !strings.Contains(out.Text(), want) {
			t.Errorf("the error lacks %q: %s", want, out.Text())
		}
	}
}

// quickSetUp has computers be set up in about a second of the machine's time.
func quickSetUp(o *emulator.Options) { o.Provisioning.Step = 200 * time.Millisecond }

// leastPause is the time between two looks of those who wait for computers of one account.
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
			i := p.NewInstance("agentyard_computer")
			done <- p.Apply(i, acctest.Values{"name": fmt.Sprint("c", k)}).Text()
		}()
	}
	for range n {
		if text := <-done; text != "" {
			t.Error(text)
		}
	}
	// However slow the machine is: those who wait look once in each pause at the most, and each alone would look once at least.
	looks, pauses := e.Journal().Count("listComputers")+e.Journal().Count("getComputer"), int(time.Since(begin)/leastPause)
	t.Logf("%d computers: %d looks in %d pauses", n, looks, pauses)
	if looks > pauses || looks == 0 {
		t.Errorf("%d looks in %d pauses of %s", looks, pauses, leastPause)
	}
}

func TestAccComputer_faultsThroughTheCLI(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{
		"dropped after commit": {Kind: emulator.FaultDropAfterCommit},
		"500 after commit":     {Kind: emulator.FaultStatusAfterCommit, Status: 500},
		"truncated":            {Kind: emulator.FaultTruncatedBody},
		"not JSON":             {Kind: emulator.FaultNonJSON},
		"rate limited":         {Kind: emulator.FaultRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			inject := func(operation string) func() {
				return func() {
					fault.Operation = operation
					e.Faults().Add(fault)
				}
			}
			oneLeft := func(*terraform.State) error {
				if all := computers(e); len(all) != 1 {
					return fmt.Errorf("the emulator holds %+v", all)
				}
				return nil
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				CheckDestroy:             noneLeft(e),
				Steps: []resource.TestStep{
					{PreConfig: inject("createComputer"), Config: e.Config(config(`name = "a"`)), ConfigPlanChecks: acctest.ThenEmpty, Check: oneLeft},
					{PreConfig: inject("updateComputer"), Config: e.Config(config(`name = "b"`)), ConfigPlanChecks: expectAction(plancheck.ResourceActionUpdate), Check: oneLeft},
				},
			})
		})
	}
}

func TestAccComputer_lostBeforeCommitConverges(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{
				PreConfig: func() {
					e.Faults().Add(emulator.Fault{Operation: "createComputer", Kind: emulator.FaultDropBeforeCommit})
				},
				Config:      e.Config(config(`name = "a"`)),
				ExpectError: regexp.MustCompile(`Cannot create computer(.|\n)*createComputer(.|\n)*Apply\s+again`),
			},
			{Config: e.Config(config(`name = "a"`)), ConfigPlanChecks: expectAction(plancheck.ResourceActionCreate)},
		},
	})
}

func TestAccComputer_interruptedWaitIsNotTainted(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t,
		func(o *emulator.Options) { o.Provisioning.Step = 1e12 },
		acctest.Intercept("getComputer", false, func() { <-ready; running.Interrupt() }))
	cli := acctest.NewCLI(t, e, config(`name = "interrupted"`))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	if r := running.Wait(); r.ExitCode == 0 || !strings.Contains(r.Output, "Interrupted Before the Computer Was Active") {
		t.Errorf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	id := only(t, e).ID
	if state := cli.MustRun("state", "show", address); !strings.Contains(state.Output, id) || strings.Contains(state.Output, "tainted") {
		t.Errorf("the state: %s", state.Output)
	}
	cli.MustPlanEmpty()
}

func TestAccComputer_killedAfterCommitStopsAtWhatItFinds(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t, acctest.Intercept("createComputer", true, func() { <-ready; running.Kill() }))
	cli := acctest.NewCLI(t, e, config("name = \"killed\"\nprovider_type = \"byom\""))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	if r := running.Wait(); r.ExitCode == 0 {
		t.Fatalf("the apply was not killed: %s", r.Output)
	}
	id := only(t, e).ID
	cli.Write("terraform.tfstate.lock.info", "")
	r := cli.Run("apply", "-auto-approve", "-input=false", "-lock=false")
	text := regexp.MustCompile(`[\s│]+`).ReplaceAllString(r.Output, " ")
	if r.ExitCode == 0 || !strings.Contains(text, id) || !strings.Contains(text, "terraform import ADDRESS "+id) {
		t.Fatalf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	cli.MustRun("import", "-lock=false", address, id)
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	if got := only(t, e).ID; got != id {
		t.Errorf("the computer is %s, was %s", got, id)
	}
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	if e.Journal().Count("createComputer") != 1 {
		t.Errorf("%d creations were sent", e.Journal().Count("createComputer"))
	}
}

func TestAccComputer_planSharesItsReads(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	cfg := e.Config("resource \"agentyard_computer\" \"test\" {\n  count = 50\n  name = \"c-${count.index}\"\n  provider_type = \"byom\"\n}")
	run(t, e,
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
	// One plan of the step, one before the destruction: two requests each.
	if reads > 8 {
		t.Errorf("%d reads", reads)
	}
}
