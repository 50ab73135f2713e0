// Package guides follows every guide of the documentation to the letter: its configuration, its commands and their order.
package guides

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// quick is an emulator whose computers are ready at once.
func quick(o *emulator.Options) { o.Provisioning.Step = time.Millisecond }

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
	if n := e.Journal().Count("createApiKey"); n != 3 {
		t.Errorf("%d keys for two plans and an apply", n)
	}
	if left := live(e); len(left) > 0 {
		t.Errorf("%v live on", left)
	}
	if state := read(t, cli, "terraform.tfstate"); strings.Contains(state, "fk-") {
		t.Error("a key is in the state")
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
