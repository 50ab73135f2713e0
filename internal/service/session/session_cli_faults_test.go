package session_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// atOnce makes the emulator show new sessions immediately.
func atOnce(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = -1, -1 }

var applying = []string{"apply", "-auto-approve", "-input=false"}

// many returns a configuration of n sessions with the same arguments.
func many(computer string, n int) string { return hclOf(computer, fmt.Sprintf("count = %d", n)) }

func mustHold(t *testing.T, e *acctest.Env, computer string, n int) []string {
	t.Helper()
	ids := idsOn(t, e, computer)
	if len(ids) != n {
		t.Errorf("the emulator holds %v, not %d", ids, n)
	}
	return ids
}

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

// In normal use, nothing fails and nothing warns: two states with sessions on one computer, -target, -parallelism=1, two
// provider aliases, and more or fewer identical sessions.
func TestAccSession_ordinaryWeek(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, atOnce)
	computer := newComputer(e, "dev")
	const robots = "resource \"agentyard_service_account\" \"robots\" {\n  name = \"robots\"\n}\n"
	first, second := acctest.NewCLI(t, e, many(computer, 3)), acctest.NewCLI(t, e, robots)
	quietly := func(cli *acctest.CLI, hcl string, args ...string) {
		t.Helper()
		cli.Write("main.tf", hcl)
		text := cli.MustRun(append(args, "-input=false")...).Output
		for _, usual := range []string{"Provider development overrides", "Resource targeting is in effect", "Applied changes may be incomplete"} {
			text = strings.ReplaceAll(text, "Warning: "+usual, "")
		}
		if strings.Contains(text, "Warning:") {
			t.Errorf("%v warns: %s", args, text)
		}
	}
	apply := func(more ...string) []string { return append([]string{"apply", "-auto-approve"}, more...) }
	aliased := robots + hclOf(computer, "") + "provider \"agentyard\" {\n  alias = \"other\"\n}\n" + hclNamed("other", computer, "provider = agentyard.other")

	quietly(first, many(computer, 3), apply()...)
	quietly(second, robots, apply()...)
	quietly(second, robots+hclOf(computer, ""), "plan")
	quietly(second, robots+hclOf(computer, ""), apply()...)
	quietly(second, aliased, apply()...)
	second.MustPlanEmpty()
	quietly(first, many(computer, 5), apply("-parallelism=1")...)
	quietly(first, many(computer, 5)+hclNamed("more", computer, ""), apply("-target="+sessionType+".more")...)
	first.MustPlanEmpty()
	mustHold(t, e, computer, 8)
	quietly(second, aliased, "destroy", "-auto-approve")
	mustHold(t, e, computer, 6)
	quietly(first, many(computer, 2), apply("-refresh=false")...)
	first.MustPlanEmpty()
	quietly(first, many(computer, 2), "destroy", "-auto-approve")
	mustHold(t, e, computer, 0)
}
