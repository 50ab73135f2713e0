package session_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// breakSessions runs the fault matrix of a session on a computer, and checks that at most this number of sessions is
// created, without orphans.
func breakSessions(t *testing.T, most int, configs func(computer string) []acctest.Values) {
	t.Helper()
	live := func(e *acctest.Env) (ids []string) {
		all, err := e.Sessions()
		check.Must(t, err)
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		return ids
	}
	acctest.Matrix{
		Type:     sessionType,
		Setup:    func(e *acctest.Env) []acctest.Values { return configs(newComputer(e, "dev")) },
		Nameless: true,
		Live:     live,
		Verify: func(t *testing.T, e *acctest.Env, _ *acctest.Instance) {
			orphans := len(live(e)) - 1
			if made := e.CarriedOut("createSession") - orphans; made > most {
				t.Errorf("%d creations were carried out", made)
			}
		},
	}.Run(t)
}

func TestSession_faultMatrix(t *testing.T) {
	t.Parallel()
	breakSessions(t, 1, func(computer string) []acctest.Values {
		return []acctest.Values{
			valuesOf(computer, nil),
			withSettings(computer, map[string]any{"model": "model-light", "tags": []any{map[string]any{"name": "a", "metadata": map[string]any{"b": "c"}}}, "enabled_tool_ids": []any{"read", "write"}}),
		}
	})
}

// All arguments, including those that responses omit, and a replacement at the end.
func TestSession_faultMatrixOfAllThatIsSent(t *testing.T) {
	t.Parallel()
	breakSessions(t, 2, func(computer string) []acctest.Values {
		all := func(cwd string) acctest.Values {
			return valuesOf(computer, acctest.Values{
				"cwd": cwd, "system_prompt_append": "Be brief.",
				"session_settings": map[string]any{
					"interaction_mode": "agi", "autonomy_level": "low", "tool_execution_mode": "script_only", "allow_subagents_in_scripts": true,
					"disabled_tool_ids": []any{"read", "write"}, "restrict_tool_ids": []any{}, "worktree": map[string]any{"repo_root": "/srv", "branch": "main"},
				},
			})
		}
		return []acctest.Values{all("/srv"), all("/other")}
	})
}

// After Ctrl-C during a request, its result is in the state, and the next apply continues.
func TestAccSession_interrupted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		operation string
		isLost    bool
	}{{"createSession", false}, {"createSession", true}, {"deleteSession", true}} {
		t.Run(fmt.Sprintf("%s, lost %v", tc.operation, tc.isLost), func(t *testing.T) {
			t.Parallel()
			running := make(chan *acctest.Running, 1)
			option := acctest.InterruptInFlight(tc.operation, running)
			if tc.isLost {
				option = acctest.Intercept(tc.operation, true, func() { (<-running).Interrupt() })
			}
			e := acctest.NewRealTime(t, option)
			computer := newComputer(e, "dev")
			cli := acctest.NewCLI(t, e, fmt.Sprintf("resource %q \"test\" {\n  computer_id = %q\n}\n", sessionType, computer))
			applying := []string{"apply", "-auto-approve", "-input=false"}
			left := 1
			if tc.operation == "deleteSession" {
				cli.MustRun(applying...)
				cli.Write("main.tf", "")
				e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": "1h"}, nil)
				left = 0
			}
			run := cli.Start(applying...)
			running <- run
			r := run.Wait()
			if e.Journal().Count(tc.operation) == 0 {
				t.Fatalf("nothing was in flight: %s", r.Output)
			}
			live := idsOn(t, e, computer)
			state := strings.ReplaceAll(cli.MustRun("state", "pull").Output, " ", "")
			if strings.Contains(state, `"status":"tainted"`) || len(live) == 1 && !strings.Contains(state, live[0]) {
				t.Errorf("the emulator holds %v, the state %s: %s", live, state, r.Output)
			}
			cli.MustRun(applying...)
			cli.MustPlanEmpty()
			if again := idsOn(t, e, computer); len(again) != left || left == 1 && again[0] != live[0] {
				t.Errorf("the emulator holds %v, and held %v", again, live)
			}
			e.WantRequests(t, "createSession", 1)
		})
	}
}

// A killed run loses the request in flight: the next apply sends the message again.
func TestAccSessionMessageResource_killed(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.SessionDelay, o.MessageDelay, o.MaxPageSize = time.Millisecond, -1, 100 },
		acctest.Intercept("sendSessionMessage", true, func() { <-ready; running.Kill() }))
	s := makeTalk(e, newComputer(e, "dev"), nil)
	cli := acctest.NewCLI(t, e, fmt.Sprintf("resource %q \"test\" {\n  session_id = %q\n  text = \"Fix it\"\n}\n", messageType, s.ID))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	running.Wait()
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	check.Is(t, "messages", len(saidIn(e, s.ID, "user")), 2)
	cli.MustPlanEmpty()
}
