// Package guides follows every guide of the documentation to the letter: its configuration, its commands and their order.
package guides

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// followed are the guides that a test follows.
var followed = []string{"adopting-an-organization", "agent-sessions", "api-key-rotation", "api-keys-without-state", "environment-builds", "sharing-computers", "spend-governance", "wikis-from-pipelines"}

func TestGuides_everyOneIsFollowed(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../templates/guides/*.md.tmpl")
	if err != nil || len(pages) != len(followed) {
		t.Fatalf("%d guides, %d of them are followed: %v", len(pages), len(followed), err)
	}
	for i, page := range pages {
		if want := followed[i] + ".md.tmpl"; filepath.Base(page) != want {
			t.Errorf("%s, want %s", page, want)
		}
	}
}

// quick is an emulator whose computers and environments are ready at once.
func quick(o *emulator.Options) {
	o.Provisioning.Step, o.BuildPhase = time.Millisecond, time.Millisecond
}

type record struct {
	ID, Name  string
	IsRevoked bool
}

func accounts(e *acctest.Env) []record {
	var answer struct{ ServiceAccounts []record }
	e.API(http.MethodGet, "/api/v0/service-accounts", nil, &answer)
	return answer.ServiceAccounts
}

// live are the keys of all accounts that are not revoked, by name; those in a grace period too.
func live(e *acctest.Env) map[string][]string {
	keys := map[string][]string{}
	for _, account := range accounts(e) {
		var answer struct{ APIKeys []record }
		e.API(http.MethodGet, "/api/v0/service-accounts/"+account.ID+"/api-keys", nil, &answer)
		for _, key := range answer.APIKeys {
			if !key.IsRevoked {
				keys[key.Name] = append(keys[key.Name], key.ID)
				slices.Sort(keys[key.Name])
			}
		}
	}
	return keys
}

// onlyRead demands that nothing was written since the journal was reset.
func onlyRead(t *testing.T, e *acctest.Env) {
	t.Helper()
	for _, entry := range e.Journal().Entries() {
		if entry.Method != http.MethodGet {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
}

func read(t *testing.T, cli *acctest.CLI, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cli.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAccGuide_apiKeysWithoutState(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.NewRealTime(t)
	guide := acctest.NewGuide(t, "api-keys-without-state")
	var account record
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robots"}, &account)
	cli := acctest.NewCLI(t, e, guide.Next("terraform"))
	cli.Setenv("TF_VAR_service_account_id", account.ID)
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
	if n := e.Journal().Count("createApiKey"); n < 2 {
		t.Errorf("%d keys for an apply and a plan", n)
	}
	if left := live(e); len(left) > 0 {
		t.Errorf("%v live on", left)
	}
	if state := read(t, cli, "terraform.tfstate"); strings.Contains(state, "fk-") {
		t.Error("a key is in the state")
	}
}

var importBlocks = regexp.MustCompile(`(?ms)^import \{.*?^\}\n`)

func TestAccGuide_adoptingAnOrganization(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quick)
	guide := acctest.NewGuide(t, "adopting-an-organization")
	create := func(path string, body map[string]any) string {
		var answer struct {
			ID     string
			APIKey record
		}
		e.API(http.MethodPost, "/api/v0/"+path, body, &answer)
		return answer.ID + answer.APIKey.ID
	}
	var accountIDs, keyIDs, runnerIDs []string
	for _, name := range []string{"ci", "docs"} {
		account := create("service-accounts", map[string]any{"name": name, "description": name + " robots"})
		for _, key := range []string{"pipeline", "nightly"} {
			keyIDs = append(keyIDs, create("service-accounts/"+account+"/api-keys", map[string]any{"name": key}))
		}
		runnerIDs = append(runnerIDs, create("computers", map[string]any{"name": "runner-1", "serviceAccountId": account}))
		accountIDs = append(accountIDs, account)
	}
	var buildIDs []string
	for _, name := range []string{"build-1", "build-2"} {
		buildIDs = append(buildIDs, create("computers", map[string]any{"name": name}))
	}
	for _, name := range []string{"agents", "docs"} {
		create("environments", map[string]any{"name": name, "scope": "organization", "repositories": []map[string]any{{"url": "https://git.example/acme/" + name + ".git", "script": "make"}}})
	}
	e.API(http.MethodPut, "/api/v0/organization/usage/limits/users", map[string]any{"users": []map[string]any{{"email": "manager@agentyard.example", "limit": 5000000}}}, nil)
	const total = 2 + 4 + 2 + 2 + 2 + 1 // Accounts, their keys, their computers, those of the caller, environments, and a limit.
	keys := fmt.Sprint(live(e))

	provider, computers, robots, environments, limits := guide.Next("terraform"), guide.Next("terraform"), guide.Next("terraform"), guide.Next("terraform"), guide.Next("terraform")
	look, generate, adopt := guide.Next("shell"), guide.Next("shell"), guide.Next("shell")
	t.Run("queries", func(t *testing.T) {
		acctest.NeedsActions(t)
		cli := acctest.NewCLI(t, e, "")
		cli.Write("provider.tf", provider)
		cli.Write("computers.tfquery.hcl", computers)
		cli.Write("accounts.tfquery.hcl", robots)
		cli.Write("environments.tfquery.hcl", environments)
		cli.Write("limits.tfquery.hcl", limits)
		e.Journal().Reset()
		r := cli.Follow(look)[0]
		for _, found := range []string{"agents", "build-1", "build-2", "runner-1", "ci/pipeline", "docs/nightly", "manager@agentyard.example"} {
			if !strings.Contains(r.Output, found) {
				t.Errorf("the queries do not find %s: %s", found, r.Output)
			}
		}
		cli.Follow(generate)
		runs := cli.Follow(adopt)
		if text := runs[0].Output; !strings.Contains(text, fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", total)) || strings.Count(text, "Warning: API Key Imported Without Its Value") != len(keyIDs) {
			t.Errorf("the plan of the import: %s", text)
		}
		cli.MustPlanEmpty()
		cli.Write("generated.tf", importBlocks.ReplaceAllString(read(t, cli, "generated.tf"), ""))
		cli.MustPlanEmpty()
		onlyRead(t, e)
	})
	t.Run("queries of accounts that share a name", func(t *testing.T) {
		acctest.NeedsActions(t)
		_, listing := e.Try(http.MethodGet, "/api/v0/service-accounts", nil)
		e.Faults().Add(emulator.Fault{Operation: "listServiceAccounts", Kind: emulator.FaultOtherAnswer, Body: strings.Replace(string(listing), `"name":"docs"`, `"name":"ci"`, 1), Times: -1})
		defer e.Faults().Clear()
		cli := acctest.NewCLI(t, e, "")
		cli.Write("provider.tf", provider)
		cli.Write("accounts.tfquery.hcl", robots)
		r := cli.MustRun("query")
		for _, id := range append(slices.Clone(accountIDs), keyIDs...) {
			if !strings.Contains(r.Output, id) {
				t.Errorf("the queries do not find %s: %s", id, r.Output)
			}
		}
	})

	byHand := guide.Next("terraform", "6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10", buildIDs[0], "a3d9be41-62c7-4c0f-8b53-90f1d2e4c6b7", buildIDs[1])
	theirs := guide.Next("terraform", "sa_01hzy3v7k2m4n6p8q0r2s4t6v8", accountIDs[0], "key_01hzy4a8m3n5p7q9r1s3t5v7w9", keyIDs[0],
		"0c5d9f6e-4a57-4b0e-9a53-2d7e8f9a1b3c", runnerIDs[0])
	t.Run("by hand", func(t *testing.T) {
		acctest.NeedsImportForEach(t)
		e.API(http.MethodPatch, "/api/v0/service-accounts/"+accountIDs[0], map[string]any{"description": ""}, nil)
		cli := acctest.NewCLI(t, e, "")
		cli.Write("provider.tf", provider)
		cli.Write("import.tf", byHand)
		cli.Write("accounts.tf", theirs)
		e.Journal().Reset()
		if r := cli.Follow(adopt)[0]; !strings.Contains(r.Output, "Plan: 5 to import, 0 to add, 0 to change, 0 to destroy.") {
			t.Error(r.Output)
		}
		cli.MustPlanEmpty()
		onlyRead(t, e)
	})
	if after := fmt.Sprint(live(e)); after != keys {
		t.Errorf("live keys are %s, were %s", after, keys)
	}
}

// What one manager has applied is the same to another one, and the account's own key works beside it.
func TestAccGuide_sharingComputers(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quick)
	guide := acctest.NewGuide(t, "sharing-computers")
	_, colleague, err := e.AddHuman(emulator.Human{Email: "colleague@agentyard.example", Role: emulator.RoleManager})
	if err != nil {
		t.Fatal(err)
	}
	team := acctest.NewCLI(t, e, guide.Next("terraform"))
	team.Write("provider.tf", "")
	team.MustRun("apply", "-auto-approve", "-input=false")
	team.MustPlanEmpty()
	team.Setenv("AGENTYARD_API_KEY", colleague)
	team.MustPlanEmpty()

	var key string
	if err := json.Unmarshal([]byte(team.MustRun("output", "-json", "pipeline_key").Output), &key); err != nil {
		t.Fatal(err)
	}
	pipeline := acctest.NewCLI(t, e, guide.Next("terraform"))
	pipeline.Write("provider.tf", "")
	pipeline.Setenv("AGENTYARD_API_KEY", key)
	pipeline.MustRun("apply", "-auto-approve", "-input=false")
	pipeline.MustPlanEmpty()
	team.MustPlanEmpty()
	pipeline.MustRun("destroy", "-auto-approve", "-input=false")
	team.MustRun("destroy", "-auto-approve", "-input=false")
}

// A computer of a person's own moves under the service account with the steps of the guide.
func TestAccGuide_movingComputers(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quick)
	config := func(more string) string {
		return "resource \"agentyard_service_account\" \"team\" {\n  name = \"team\"\n}\nresource \"agentyard_computer\" \"moved\" {\n  name = \"build-1\"\n" + more + "}\n"
	}
	cli := acctest.NewCLI(t, e, config(""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", config("  service_account_id = agentyard_service_account.team.id\n  lifecycle {\n    create_before_destroy = true\n  }\n"))
	if r := cli.MustRun("plan", "-input=false", "-out=plan"); !strings.Contains(r.Output, "Plan: 1 to add, 0 to change, 1 to destroy.") {
		t.Error(r.Output)
	}
	cli.MustRun("apply", "-input=false", "plan")
	cli.MustPlanEmpty()
}
