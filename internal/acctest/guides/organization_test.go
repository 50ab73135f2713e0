package guides

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var importBlocks = regexp.MustCompile(`(?ms)^import \{.*?^\}\n`)

// grow adds more to what the page creates: an account with keys and a computer, and an environment.
func grow(e *acctest.Env) (ids []string) {
	create := func(path string, body map[string]any) string {
		var answer struct {
			ID     string
			APIKey record
		}
		e.API(http.MethodPost, "/api/v0/"+path, body, &answer)
		return answer.ID + answer.APIKey.ID
	}
	account := create("service-accounts", map[string]any{"name": "docs", "description": "docs robots"})
	ids = append(ids, account)
	for _, key := range []string{"pipeline", "nightly"} {
		ids = append(ids, create("service-accounts/"+account+"/api-keys", map[string]any{"name": key}))
	}
	create("computers", map[string]any{"name": "runner-1", "serviceAccountId": account})
	create("environments", map[string]any{"name": "docs", "scope": "organization", "repositories": []map[string]any{{"url": "https://git.example/acme/docs.git", "script": "make"}}})
	return ids
}

func adoptingAnOrganization(g *reader) {
	t, e := g.t, g.e
	g.expect(g.step(), "7 added")
	var existing struct {
		Computers            map[string]string
		Account, Key, Runner string
	}
	check.Must(t, json.Unmarshal([]byte(g.run("terraform -chdir=existing output -json ids")), &existing))
	ids := append(grow(e), existing.Account, existing.Key)
	const total = 2 + 3 + 2 + 2 + 2 + 1 + 1 // Accounts, their keys, their computers, those of the caller, environments, a limit, and a member.
	keys := fmt.Sprint(live(e))
	e.Journal().Reset()

	if acctest.HasActions(t) {
		out := g.step()
		check.Says(t, out, "agents", "build-1", "build-2", "runner-1", "ci/pipeline", "docs/nightly", "manager@agentyard.example")
		// Accounts that share a name.
		_, listing := e.Try(http.MethodGet, "/api/v0/service-accounts", nil)
		e.Faults().Add(emulator.Fault{Operation: "listServiceAccounts", Kind: emulator.FaultOtherResponse, Body: strings.Replace(string(listing), `"name":"docs"`, `"name":"ci"`, 1), Times: -1})
		out = g.run("terraform query")
		check.Says(t, out, ids...)
		e.Faults().Clear()

		g.step()
		check.Says(t, g.step(), fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", total))
		g.cli.MustPlanEmpty()
		g.cli.Write("generated.tf", importBlocks.ReplaceAllString(g.read("generated.tf"), ""))
		g.cli.MustPlanEmpty()
		onlyRead(t, e)
	}

	// By hand, in an empty folder.
	acctest.NeedsImportForEach(t)
	hand := open(t, e, g.page)
	hand.leave("# Set AGENTYARD_BASE_URL")
	hand.write(hand.blocks[0])
	hand.leave("# Names and IDs of the computers to import.")
	g.blocks = nil
	e.Journal().Reset()
	out := hand.step("6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10", existing.Computers["build-1"], "a3d9be41-62c7-4c0f-8b53-90f1d2e4c6b7", existing.Computers["build-2"],
		"sa_01hzy3v7k2m4n6p8q0r2s4t6v8", existing.Account, "key_01hzy4a8m3n5p7q9r1s3t5v7w9", existing.Key, "0c5d9f6e-4a57-4b0e-9a53-2d7e8f9a1b3c", existing.Runner)
	check.Says(t, out, "Plan: 5 to import, 0 to add, 0 to change, 0 to destroy.")
	hand.cli.MustPlanEmpty()
	onlyRead(t, e)
	check.Is(t, "live keys", fmt.Sprint(live(e)), keys)
}

func apiKeyRotation(g *reader) {
	t, e := g.t, g.e
	nightly := "terraform apply -auto-approve -input=false"
	check.Says(t, g.blocks[1].text, nightly)
	// Quiet is a nightly run that changes nothing and warns of nothing.
	quiet := func() {
		t.Helper()
		g.cli.MustPlanEmpty()
		before := live(e)
		if out := g.run(nightly); !strings.Contains(out, "0 added, 0 changed, 0 destroyed") || strings.Contains(out, "Warning: ") {
			t.Errorf("the nightly run: %s", out)
		}
		check.Is(t, "the keys after the nightly run", fmt.Sprint(live(e)), fmt.Sprint(before))
	}
	g.step()
	quiet()

	g.step()
	quiet()
	old := live(e)["deploy"][0]
	out := g.step()
	check.Says(t, out, "agentyard_api_key.deploy: Modifications complete", "terraform_data.deployment: Creation complete")
	if keys := live(e)["deploy"]; len(keys) != 2 || !slices.Contains(keys, old) {
		t.Errorf("live are %v, want a new key and %s in its grace period", keys, old)
	}
	quiet()

	acctest.NeedsActions(t)
	leaked := live(e)["scheduled"][0]
	out = g.step("KEY_ID", leaked)
	check.Says(t, out, `API key will be replaced`, leaked)
	if keys := live(e)["scheduled"]; len(keys) != 1 || keys[0] == leaked {
		t.Errorf("live are %v, and %s has leaked", keys, leaked)
	}
	quiet()

	before := slices.Concat(live(e)["deploy"], live(e)["scheduled"])
	g.step()
	after := slices.Concat(live(e)["deploy"], live(e)["scheduled"])
	if len(after) != 2 || slices.ContainsFunc(after, func(id string) bool { return slices.Contains(before, id) }) {
		t.Errorf("live are %v, and any of %v may have leaked", after, before)
	}
	quiet()
}

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
		e.MemberKey(name+"@agentyard.example", "")
	}
	for n := range 11 {
		join(fmt.Sprint("member", n))
	}

	g.programs = append(g.programs, emulatorBinary(t))
	check.Lacks(t, g.step(), "Not members")
	cli.MustPlanEmpty()
	check.Is(t, "the limits", fmt.Sprint(spendLimits(e)), "map[:20000000 avery@agentyard.example:80000000 blake@agentyard.example:5000000]")

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
	check.Lacks(t, g.step(), "Warning: Check block assertion failed")
	cli.Setenv("TF_VAR_daily_budget", "1")
	check.Says(t, cli.MustPlanEmpty().Output, "The budget is 1.")
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
	check.Must(t, e.ChangeEnterpriseControls(map[string]json.RawMessage{"maxAutonomyLevel": json.RawMessage(`"low"`)}, ""))
	check.Says(t, cli.MustPlanEmpty().Output, "Revision 4 is by manager@agentyard.example.")

	offboarding(g)

	g.expect(g.step(), "Limits will be replaced", "1 added, 0 changed, 0 destroyed", `"casey@agentyard.example" = 20000000`)
	check.Is(t, "the limits", fmt.Sprint(spendLimits(e)), "map[:20000000 avery@agentyard.example:80000000 blake@agentyard.example:5000000]")
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
