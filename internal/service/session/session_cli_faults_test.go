package session_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// atOnce makes the emulator show new sessions immediately.
func atOnce(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = -1, -1 }

var applying = []string{"apply", "-auto-approve", "-input=false"}

// After Ctrl-C during a request, its result is in the state, and the next apply continues.
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
				e.WantRequests(t, "createSession", 1)
			})
		}
	}
}
