package guides

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
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
	acctest.Must(t, json.Unmarshal([]byte(g.run("terraform -chdir=existing output -json ids")), &existing))
	ids := append(grow(e), existing.Account, existing.Key)
	const total = 2 + 3 + 2 + 2 + 2 + 1 + 1 // Accounts, their keys, their computers, those of the caller, environments, a limit, and a member.
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
		for _, id := range ids {
			if !strings.Contains(out, id) {
				t.Errorf("the queries do not find %s: %s", id, out)
			}
		}
		e.Faults().Clear()

		g.step()
		if out := g.step(); !strings.Contains(out, fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", total)) {
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
	hand.leave("# Set AGENTYARD_BASE_URL")
	hand.write(hand.blocks[0])
	hand.leave("# Names and IDs of the computers to import.")
	g.blocks = nil
	e.Journal().Reset()
	out := hand.step("6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10", existing.Computers["build-1"], "a3d9be41-62c7-4c0f-8b53-90f1d2e4c6b7", existing.Computers["build-2"],
		"sa_01hzy3v7k2m4n6p8q0r2s4t6v8", existing.Account, "key_01hzy4a8m3n5p7q9r1s3t5v7w9", existing.Key, "0c5d9f6e-4a57-4b0e-9a53-2d7e8f9a1b3c", existing.Runner)
	if !strings.Contains(out, "Plan: 5 to import, 0 to add, 0 to change, 0 to destroy.") {
		t.Error(out)
	}
	hand.cli.MustPlanEmpty()
	onlyRead(t, e)
	if after := fmt.Sprint(live(e)); after != keys {
		t.Errorf("live keys are %s, were %s", after, keys)
	}
}
