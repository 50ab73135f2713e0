package session_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// atOnce has the emulator show new sessions at once.
func atOnce(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = -1, -1 }

var applying = []string{"apply", "-auto-approve", "-input=false"}

// many is a configuration of so many sessions that ask for the same.
func many(computer string, n int) string { return hclOf(computer, fmt.Sprintf("count = %d", n)) }

func mustHold(t *testing.T, e *acctest.Env, computer string, n int) []string {
	t.Helper()
	ids := idsOn(t, e, computer)
	if len(ids) != n {
		t.Errorf("the emulator holds %v, not %d", ids, n)
	}
	return ids
}

// What a session in the state holds is no rest of an earlier run, whoever asks for more of the same within the half hour.
func TestAccSession_moreOfTheSame(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		saved   bool
		options []acctest.Option
	}{
		"at once":              {options: []acctest.Option{atOnce}},
		"a saved plan":         {saved: true, options: []acctest.Option{atOnce}},
		"late in the listing":  {},
		"without whole pages":  {options: []acctest.Option{atOnce, wholePages}},
		"slow to be listed at": {options: []acctest.Option{atOnce, func(o *emulator.Options) { o.SessionColdStart = time.Second }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, tc.options...)
			computer := newComputer(e, "dev")
			cli := acctest.NewCLI(t, e, "")
			for _, n := range []int{1, 2, 30, 4} {
				cli.Write("main.tf", many(computer, n))
				cli.MustRun("plan", "-out=plan", "-input=false")
				if tc.saved {
					cli.MustRun("apply", "-input=false", "plan")
				} else {
					cli.MustRun(applying...)
				}
				mustHold(t, e, computer, n)
				cli.MustPlanEmpty()
			}
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			mustHold(t, e, computer, 0)
		})
	}
}

func TestAccSession_manyWithLostAnswers(t *testing.T) {
	t.Parallel()
	const n = 20
	e := acctest.NewRealTime(t)
	computer := newComputer(e, "dev")
	cli := acctest.NewCLI(t, e, many(computer, n))
	e.Faults().Add(
		emulator.Fault{Operation: "createSession", Kind: emulator.FaultDropAfterCommit, After: 2, Times: 4},
		emulator.Fault{Operation: "createSession", Kind: emulator.FaultTruncatedBody, After: 5, Times: 2},
	)
	cli.MustRun(append(applying, "-parallelism=20")...)
	ids := mustHold(t, e, computer, n)
	state := cli.MustRun("state", "pull").Output
	for _, id := range ids {
		if !strings.Contains(state, id) {
			t.Errorf("no state holds %s", id)
		}
	}
	if sends := e.Journal().Count("createSession"); sends != n {
		t.Errorf("%d creations were sent", sends)
	}
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false", "-parallelism=20")
	mustHold(t, e, computer, 0)
}

// Ctrl-C while a request is in flight: what it did is in the state, and the next apply goes on.
func TestAccSession_interrupted(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"createSession", "updateSession", "deleteSession"} {
		for name, isLost := range map[string]bool{"answered": false, "lost": true} {
			t.Run(operation+"/"+name, func(t *testing.T) {
				t.Parallel()
				running := make(chan *acctest.Running, 1)
				option := acctest.InterruptInFlight(operation, running)
				if isLost {
					option = acctest.Intercept(operation, true, func() { (<-running).Interrupt() })
				}
				e := acctest.NewRealTime(t, option)
				computer := newComputer(e, "dev")
				hcl := map[string]string{
					"createSession": hclOf(computer, ""), "updateSession": hclOf(computer, `session_settings = { model = "model-light" }`), "deleteSession": "",
				}[operation]
				cli := acctest.NewCLI(t, e, hclOf(computer, ""))
				if operation != "createSession" {
					cli.MustRun(applying...)
					cli.Write("main.tf", hcl)
					e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": "1h"}, nil)
				}
				run := cli.Start(applying...)
				running <- run
				r := run.Wait()
				if e.Journal().Count(operation) == 0 {
					t.Fatalf("nothing was in flight: %s", r.Output)
				}
				live := idsOn(t, e, computer)
				state := strings.ReplaceAll(cli.MustRun("state", "pull").Output, " ", "")
				if strings.Contains(state, `"status":"tainted"`) || len(live) == 1 && !strings.Contains(state, live[0]) {
					t.Errorf("the emulator holds %v, the state %s: %s", live, state, r.Output)
				}
				cli.MustRun(applying...)
				cli.MustPlanEmpty()
				if again := idsOn(t, e, computer); operation == "deleteSession" && len(again) != 0 || operation != "deleteSession" && (len(again) != 1 || again[0] != live[0]) {
					t.Errorf("the emulator holds %v, and held %v", again, live)
				}
				if n := e.Journal().Count("createSession"); n != 1 {
					t.Errorf("%d creations were sent", n)
				}
			})
		}
	}
}

// A killed run leaves a session that no state knows. The next one stops at it and says what to do.
func TestAccSession_killed(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t, atOnce, acctest.Intercept("createSession", true, func() { <-ready; running.Kill() }))
	computer := newComputer(e, "dev")
	// What the state holds already is read by each plan, and before the creation is planned.
	const beside = "resource \"agentyard_service_account\" \"beside\" {\n  name = \"robots\"\n}\n"
	cli := acctest.NewCLI(t, e, beside)
	cli.MustRun(applying...)
	hcl := beside + hclOf(computer, "cwd = \"/srv\"\n  session_settings = { model = \"model-light\" }\n  depends_on = [agentyard_service_account.beside]")
	cli.Write("main.tf", hcl)
	running = cli.Start(applying...)
	close(ready)
	if r := running.Wait(); r.ExitCode == 0 {
		t.Fatalf("the apply was not killed: %s", r.Output)
	}
	id := mustHold(t, e, computer, 1)[0]
	for range 2 {
		r := cli.Run(append(applying, "-lock=false")...)
		text := unframed(r.Output)
		if r.ExitCode == 0 || !strings.Contains(text, id+" (created at "+time.Now().UTC().Format("2006-")) || !strings.Contains(text, "terraform import ADDRESS "+id) || !strings.Contains(text, "plan with -refresh=false") {
			t.Fatalf("exit code %d\n%s", r.ExitCode, r.Output)
		}
	}
	mustHold(t, e, computer, 1)
	if r := cli.Run("destroy", "-auto-approve", "-input=false", "-lock=false"); r.ExitCode == 0 || !strings.Contains(unframed(r.Output), "To destroy without either: terraform destroy -refresh=false.") {
		t.Fatalf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	cli.MustRun("destroy", "-auto-approve", "-input=false", "-lock=false", "-refresh=false")
	cli.Write("main.tf", beside)
	cli.MustRun(append(applying, "-lock=false")...)
	cli.Write("main.tf", hcl)
	cli.MustRun("import", "-lock=false", sessionAddress, id)
	cli.MustRun(append(applying, "-lock=false")...)
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false", "-lock=false")
	mustHold(t, e, computer, 0)
	if n := e.Journal().Count("createSession"); n != 1 {
		t.Errorf("%d creations were sent", n)
	}
}

// Where the state is empty, nothing tells a plan from an apply, and where it holds sessions of the computer, not all of them
// may have been read: the plan warns.
func TestAccSession_killedWhereTheStateMayHoldIt(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]string{
		"an empty state":               "",
		"another one of that computer": hclNamed("beside", "%s", `session_settings = { model = "model-light" }`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, atOnce)
			computer := newComputer(e, "dev")
			beside := strings.ReplaceAll(beside, "%s", computer)
			cli := acctest.NewCLI(t, e, beside)
			if beside != "" {
				cli.MustRun(applying...)
			}
			var left struct{ SessionID string }
			e.API(http.MethodPost, sessionsRoute, map[string]any{"computerId": computer, "sessionSettings": map[string]any{"model": "model-standard"}}, &left)
			cli.Write("main.tf", beside+hclOf(computer, `session_settings = { model = "model-standard" }`))
			text := unframed(cli.MustRun("plan", "-input=false").Output)
			for _, part := range []string{"An Interrupted Run May Have Left This", "If a resource in the state holds it, nothing is to be done", left.SessionID + " (created at", "terraform import ADDRESS " + left.SessionID} {
				if !strings.Contains(text, part) {
					t.Errorf("the warning lacks %q: %s", part, text)
				}
			}
		})
	}
}

// What a plan takes for the rest of an earlier run: only what is as a new session shall be, and young.
func TestSession_leftovers(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	one := int64(1)
	wish := map[string]any{"model": "model-light", "tags": []any{map[string]any{"name": "a"}}}
	for name, tc := range map[string]struct {
		settings map[string]any
		change   emulator.SessionChange
		age      time.Duration
		elsewhere,
		isLeftover bool
	}{
		"alike":                   {settings: wish, isLeftover: true},
		"alike for 29 minutes":    {settings: wish, age: 29 * time.Minute, isLeftover: true},
		"alike for 31 minutes":    {settings: wish, age: 31 * time.Minute},
		"on another computer":     {settings: wish, elsewhere: true},
		"of another model":        {settings: map[string]any{"model": "model-standard", "tags": wish["tags"]}},
		"without the tags":        {settings: map[string]any{"model": "model-light"}},
		"with another tag":        {settings: map[string]any{"model": "model-light", "tags": []any{map[string]any{"name": "b"}}}},
		"with a title":            {settings: wish, change: emulator.SessionChange{Title: text("Mend it")}},
		"with a message":          {settings: wish, change: emulator.SessionChange{MessageCount: &one}},
		"at work":                 {settings: wish, change: emulator.SessionChange{Status: text("running")}},
		"archived":                {settings: wish, change: emulator.SessionChange{ArchivedAt: text("2026-03-01T12:00:00Z")}},
		"a subagent's":            {settings: wish, change: emulator.SessionChange{ParentSessionID: text("0b2f7f6e-0000-4000-8000-000000000000")}},
		"with settings of others": {settings: map[string]any{"model": "model-light", "tags": wish["tags"], "compactionModel": "current-model"}, isLeftover: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			computer, beside := newComputer(e, "dev"), newComputer(e, "beside")
			held := newSession(e, beside, nil)
			on := computer
			if tc.elsewhere {
				on = beside
			}
			id := newYoungSession(e, on, tc.settings)
			changed(t, e, id, tc.change)
			e.Clock.Advance(max(tc.age, 10*time.Second))
			p := acctest.NewProcess(t, e, nil)
			readBeside(t, p, beside, held)
			out := p.Plan(p.NewInstance(sessionType), withSettings(computer, map[string]any{"model": "model-light", "tags": []any{map[string]any{"name": "a"}}}))
			if isNamed := len(out.Errors) == 1 && strings.Contains(out.Text(), id); isNamed != tc.isLeftover || !tc.isLeftover && len(out.Errors)+len(out.Warnings) > 0 {
				t.Errorf("%s", out)
			}
		})
	}
}
