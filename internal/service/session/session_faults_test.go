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
