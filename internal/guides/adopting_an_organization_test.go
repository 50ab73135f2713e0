package guides

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var importBlocks = regexp.MustCompile(`(?ms)^import \{.*?^\}\n`)

// grown is an organization that somebody has set up by hand.
type grown struct{ accounts, keys, runners, builds []string }

func grow(e *acctest.Env) (o grown) {
	create := func(path string, body map[string]any) string {
		var answer struct {
			ID     string
			APIKey record
		}
		e.API(http.MethodPost, "/api/v0/"+path, body, &answer)
		return answer.ID + answer.APIKey.ID
	}
	for _, name := range []string{"ci", "docs"} {
		account := create("service-accounts", map[string]any{"name": name, "description": name + " robots"})
		for _, key := range []string{"pipeline", "nightly"} {
			o.keys = append(o.keys, create("service-accounts/"+account+"/api-keys", map[string]any{"name": key}))
		}
		o.runners = append(o.runners, create("computers", map[string]any{"name": "runner-1", "serviceAccountId": account}))
		o.accounts = append(o.accounts, account)
	}
	for _, name := range []string{"build-1", "build-2"} {
		o.builds = append(o.builds, create("computers", map[string]any{"name": name}))
	}
	for _, name := range []string{"agents", "docs"} {
		create("environments", map[string]any{"name": name, "scope": "organization", "repositories": []map[string]any{{"url": "https://git.example/acme/" + name + ".git", "script": "make"}}})
	}
	e.API(http.MethodPut, "/api/v0/organization/usage/limits/users", map[string]any{"users": []map[string]any{{"email": "manager@agentyard.example", "limit": 5000000}}}, nil)
	return o
}

func adoptingAnOrganization(g *reader) {
	t, e := g.t, g.e
	o := grow(e)
	const total = 2 + 4 + 2 + 2 + 2 + 1 + 1 // Accounts, their keys, their computers, those of the caller, environments, a limit, and a member.
	keys := fmt.Sprint(live(e))
	e.Journal().Reset()

	if acctest.HasActions(t) {
		out := g.step()
		for _, found := range []string{"agents", "build-1", "build-2", "runner-1", "ci/pipeline", "docs/nightly", "manager@agentyard.example"} {
			if !strings.Contains(out, found) {
				t.Errorf("the queries do not find %s: %s", found, out)
			}
		}
		// Accounts that share a name.
		_, listing := e.Try(http.MethodGet, "/api/v0/service-accounts", nil)
		e.Faults().Add(emulator.Fault{Operation: "listServiceAccounts", Kind: emulator.FaultOtherResponse, Body: strings.Replace(string(listing), `"name":"docs"`, `"name":"ci"`, 1), Times: -1})
		out = g.run("terraform query")
		for _, id := range slices.Concat(o.accounts, o.keys) {
			if !strings.Contains(out, id) {
				t.Errorf("the queries do not find %s: %s", id, out)
			}
		}
		e.Faults().Clear()

		g.step()
		if out := g.step(); !strings.Contains(out, fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", total)) || strings.Count(out, "Warning: API Key Imported Without Its Value") != 1 {
			t.Errorf("the import: %s", out)
		}
		g.cli.MustPlanEmpty()
		g.cli.Write("generated.tf", importBlocks.ReplaceAllString(g.read("generated.tf"), ""))
		g.cli.MustPlanEmpty()
		onlyRead(t, e)
	}

	// By hand, in an empty folder.
	acctest.NeedsImportForEach(t)
	hand := open(t, e, g.page)
	hand.write(hand.blocks[0])
	hand.leave("# Names and IDs of the computers to import.")
	g.blocks = nil
	e.API(http.MethodPatch, "/api/v0/service-accounts/"+o.accounts[0], map[string]any{"description": ""}, nil)
	e.Journal().Reset()
	out := hand.step("6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10", o.builds[0], "a3d9be41-62c7-4c0f-8b53-90f1d2e4c6b7", o.builds[1],
		"sa_01hzy3v7k2m4n6p8q0r2s4t6v8", o.accounts[0], "key_01hzy4a8m3n5p7q9r1s3t5v7w9", o.keys[0], "0c5d9f6e-4a57-4b0e-9a53-2d7e8f9a1b3c", o.runners[0])
	if !strings.Contains(out, "Plan: 5 to import, 0 to add, 0 to change, 0 to destroy.") {
		t.Error(out)
	}
	hand.cli.MustPlanEmpty()
	onlyRead(t, e)
	if after := fmt.Sprint(live(e)); after != keys {
		t.Errorf("live keys are %s, were %s", after, keys)
	}
}
