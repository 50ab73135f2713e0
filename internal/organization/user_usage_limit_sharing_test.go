package organization_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// limitsFor returns a configuration with one limit for each address.
func limitsFor(limit int64, emails ...string) string {
	return fmt.Sprintf("resource \"agentyard_user_usage_limit\" \"each\" {\n  for_each = toset([%s])\n  email = each.key\n  limit = %d\n}\n", `"`+strings.Join(emails, `", "`)+`"`, limit)
}

func limited(limit int64, emails ...string) limits {
	all := limits{}
	for _, email := range emails {
		all[email] = limit
	}
	return all
}

// After a lost response, the limits are read again. With shared requests too, nothing is lost or set twice unnecessarily.
func TestAccUserUsageLimit_lostAnswers(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]int{"once": 1, "always": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			haveJoined(t, e, avery, blake)
			fault := emulator.Fault{Operation: "setUserUsageLimits", Kind: emulator.FaultDropAfterCommit, Times: times}
			e.Faults().Add(fault)
			cli := acctest.NewCLI(t, e, "provider \"agentyard\" {\n  max_retries = 1\n}\n"+limitsFor(2_000_000, avery, blake, casey))
			r := cli.Run("apply", "-auto-approve", "-input=false")
			if text := acctest.OneLine(r.Output); r.ExitCode != 1 || strings.Count(text, "Error: ") != 1 || !strings.Contains(text, `each["casey@agentyard.example"]`) {
				t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
			}
			mustHold(t, e, limited(2_000_000, avery, blake))
			haveJoined(t, e, casey)
			cli.MustRun("apply", "-auto-approve", "-input=false")
			mustHold(t, e, limited(2_000_000, avery, blake, casey))
			cli.MustPlanEmpty()
			e.Faults().Clear()
			e.Faults().Add(fault)
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			mustHold(t, e, limits{})
		})
	}
}

// A renamed resource removes and sets the limit at about the same time. If the remove request comes much later, the next
// apply sets the limit again.
func TestAccUserUsageLimit_renamed(t *testing.T) {
	t.Parallel()
	for _, createFirst := range []bool{false, true} {
		t.Run(fmt.Sprintf("create before destroy %t", createFirst), func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			haveJoined(t, e, avery)
			cli := acctest.NewCLI(t, e, "")
			for _, step := range []struct {
				key, email string
				limit      int64
			}{{"m", avery, 2_000_000}, {"a", "Avery@agentyard.example", 2_000_000}, {"z", avery, 3_000_000}} {
				cli.Write("main.tf", fmt.Sprintf("resource \"agentyard_user_usage_limit\" \"each\" {\n  for_each = { %q = %q }\n  email = each.value\n  limit = %d\n  lifecycle {\n    create_before_destroy = %t\n  }\n}\n", step.key, step.email, step.limit, createFirst))
				for range 2 {
					cli.MustRun("apply", "-auto-approve", "-input=false")
				}
				mustHold(t, e, limits{avery: step.limit})
				cli.MustPlanEmpty()
			}
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			mustHold(t, e, limits{})
		})
	}
}
