package guides

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// spendLimits are the global limit and those of single users, by address; 0 is none.
func spendLimits(e *acctest.Env) map[string]int {
	var answer struct {
		GlobalLimit int
		UserLimits  []struct {
			Email string
			Limit int
		}
	}
	e.API(http.MethodGet, "/api/v0/organization/usage/limits/users", nil, &answer)
	limits := map[string]int{"": answer.GlobalLimit}
	for _, user := range answer.UserLimits {
		if user.Limit > 0 {
			limits[user.Email] = user.Limit
		}
	}
	return limits
}

func TestAccGuide_spendGovernance(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	guide := acctest.NewGuide(t, "spend-governance")
	join := func(name string) {
		t.Helper()
		if _, _, err := e.AddHuman(emulator.Human{Email: name + "@agentyard.example"}); err != nil {
			t.Fatal(err)
		}
	}
	join("Avery")
	for n := range 11 {
		join(fmt.Sprint("member", n))
	}

	// Blake is no member yet.
	cli := acctest.NewCLI(t, e, guide.Next("terraform"))
	cli.Write("provider.tf", "")
	commands := guide.Next("shell")
	if r := cli.Follow(commands)[0]; !strings.Contains(r.Output, "Not members: blake@agentyard.example.") {
		t.Errorf("nothing is said about Blake: %s", r.Output)
	}
	if got := fmt.Sprint(spendLimits(e)); got != "map[:20000000 Avery@agentyard.example:80000000]" {
		t.Errorf("the limits are %s", got)
	}
	join("blake")
	if r := cli.Follow(commands)[0]; strings.Contains(r.Output, "Not members") {
		t.Errorf("Blake has joined: %s", r.Output)
	}
	cli.MustPlanEmpty()
	if got := spendLimits(e)["blake@agentyard.example"]; got != 5000000 {
		t.Errorf("Blake's limit is %d", got)
	}

	// A budget that nobody passes, and one that everybody does.
	cli.Write("budget.tf", guide.Next("terraform"))
	if r := cli.MustPlanEmpty(); strings.Contains(r.Output, "Warning: Check block assertion failed") {
		t.Errorf("the budget was not passed: %s", r.Output)
	}
	cli.Setenv("TF_VAR_daily_budget", "1")
	if r := cli.MustPlanEmpty(); !strings.Contains(r.Output, "The budget is 1.") {
		t.Errorf("the budget was passed: %s", r.Output)
	}
	cli.Setenv("TF_VAR_daily_budget", "500000000")

	// Ten of fourteen are limited, and the exceptions stay.
	cli.Write("heaviest.tf", guide.Next("terraform"))
	cli.Patch("main.tf", guide.Next("diff"))
	cli.Follow(commands)
	cli.MustPlanEmpty()
	limits, capped := spendLimits(e), 0
	for email, limit := range limits {
		if limit == 10000000 {
			capped++
		}
		if want := map[string]int{"": 20000000, "Avery@agentyard.example": 80000000, "blake@agentyard.example": 5000000}[email]; want != 0 && limit != want {
			t.Errorf("the limit of %q is %d, want %d", email, limit, want)
		}
	}
	if capped < 8 || capped > 10 || len(limits) > 13 {
		t.Errorf("%d users are limited for what they have spent: %v", capped, limits)
	}

	cli.Write("controls.tf", guide.Next("terraform"))
	if r := cli.MustPlanEmpty(); strings.Contains(r.Output, "Revision") {
		t.Errorf("no control was changed: %s", r.Output)
	}
	if err := e.ChangeEnterpriseControls(map[string]json.RawMessage{"maxAutonomyLevel": json.RawMessage(`"low"`)}, ""); err != nil {
		t.Fatal(err)
	}
	if r := cli.MustPlanEmpty(); !strings.Contains(r.Output, "Revision 4 was made at ") || !strings.Contains(r.Output, "manager@agentyard.example") {
		t.Errorf("a control was changed: %s", r.Output)
	}

	removal, invoke := guide.Next("terraform"), guide.Next("shell")
	t.Run("removal", func(t *testing.T) {
		acctest.NeedsActions(t)
		cli.Write("removal.tf", removal)
		if r := cli.Follow(invoke); !strings.Contains(r[0].Output, "blake@agentyard.example was removed") || !strings.Contains(r[1].Output, "Not members: blake@agentyard.example.") {
			t.Errorf("the removal: %s\n%s", r[0].Output, r[1].Output)
		}
	})
}
