package guides

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

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

func spendGovernance(g *reader) {
	t, e, cli := g.t, g.e, g.cli
	join := func(name string) {
		t.Helper()
		if _, _, err := e.AddHuman(emulator.Human{Email: name + "@agentyard.example"}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 11 {
		join(fmt.Sprint("member", n))
	}

	g.programs = append(g.programs, emulatorBinary(t))
	if out := g.step(); strings.Contains(out, "Not members") {
		t.Errorf("all are members: %s", out)
	}
	cli.MustPlanEmpty()
	if got := fmt.Sprint(spendLimits(e)); got != "map[:20000000 avery@agentyard.example:80000000 blake@agentyard.example:5000000]" {
		t.Errorf("the limits are %s", got)
	}

	// Corey is no member yet.
	exceptions, corey := g.read("main.tf"), `    "corey@agentyard.example" = 7000000`+"\n"
	cli.Write("main.tf", strings.Replace(exceptions, "  exceptions = {\n", "  exceptions = {\n"+corey, 1))
	g.expect(g.run("terraform apply"), "Not members: corey@agentyard.example.", "0 added, 0 changed, 0 destroyed")
	join("Corey")
	if out := g.run("terraform apply"); strings.Contains(out, "Not members") || spendLimits(e)["Corey@agentyard.example"] != 7000000 {
		t.Errorf("Corey has joined: %s", out)
	}
	cli.MustPlanEmpty()
	cli.Write("main.tf", exceptions)
	g.run("terraform apply")

	// A budget that nobody passes, and one that everybody does.
	if out := g.step(); strings.Contains(out, "Warning: Check block assertion failed") {
		t.Errorf("the budget was not passed: %s", out)
	}
	cli.Setenv("TF_VAR_daily_budget", "1")
	if r := cli.MustPlanEmpty(); !strings.Contains(r.Output, "The budget is 1.") {
		t.Errorf("the budget was passed: %s", r.Output)
	}
	cli.Setenv("TF_VAR_daily_budget", "500000000")

	// Ten of fourteen are limited, and the exceptions stay.
	g.step()
	cli.MustPlanEmpty()
	limits, capped := spendLimits(e), 0
	for email, limit := range limits {
		if limit == 10000000 {
			capped++
		}
		if want := map[string]int{"": 20000000, "avery@agentyard.example": 80000000, "blake@agentyard.example": 5000000}[email]; want != 0 && limit != want {
			t.Errorf("the limit of %q is %d, want %d", email, limit, want)
		}
	}
	if capped < 8 || capped > 10 || len(limits) > 13 {
		t.Errorf("%d users are limited for what they have spent: %v", capped, limits)
	}

	if out := g.step(); strings.Contains(out, "Revision") || strings.Contains(out, "Plan:") {
		t.Errorf("no control was changed: %s", out)
	}
	acctest.Must(t, e.ChangeEnterpriseControls(map[string]json.RawMessage{"maxAutonomyLevel": json.RawMessage(`"low"`)}, ""))
	if r := cli.MustPlanEmpty(); !strings.Contains(r.Output, "Revision 4 is by manager@agentyard.example.") {
		t.Errorf("a control was changed: %s", r.Output)
	}

	offboarding(g)

	g.expect(g.step(), "Limits will be replaced", "1 added, 0 changed, 0 destroyed", `"casey@agentyard.example" = 20000000`)
	if got := fmt.Sprint(spendLimits(e)); got != "map[:20000000 avery@agentyard.example:80000000 blake@agentyard.example:5000000]" {
		t.Errorf("the limits are %s", got)
	}
	g.run("terraform -chdir=organization plan -detailed-exitcode")
}

// offboarding follows that part of the guide. What belongs to a member goes with the entry.
func offboarding(g *reader) {
	t, e := g.t, g.e
	g.expect(g.step(), "8 added, 0 changed, 0 destroyed")
	g.step()
	g.expect(g.step(), "2 added, 0 changed, 0 destroyed")
	if got := spendLimits(e); got["casey@agentyard.example"] != 10000000 || got["devon@agentyard.example"] != 20000000 {
		t.Errorf("the limits are %v", got)
	}
	out := g.step()
	g.expect(out, "Plan: 0 to add, 0 to change, 5 to destroy.", "Member will be removed", "devon@agentyard.example is a member", "0 added, 0 changed, 5 destroyed")
	g.run("terraform -chdir=people plan -detailed-exitcode")
	if _, found := spendLimits(e)["devon@agentyard.example"]; found || len(accounts(e)) != 1 {
		t.Errorf("left are the limits %v and the accounts %v", spendLimits(e), accounts(e))
	}
	// Only a person who is neither a member nor invited can be invited.
	if gone, kept := e.Invite("devon@agentyard.example", ""), e.Invite("casey@agentyard.example", ""); gone != nil || kept == nil {
		t.Errorf("Devon: %v; Casey: %v", gone, kept)
	}
}
