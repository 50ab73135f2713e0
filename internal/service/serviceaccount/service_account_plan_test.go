package serviceaccount_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAccServiceAccount_thePlanOfACreationProvesSomething(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	var robot, builds struct{ ID string }
	var key struct{ APIKey struct{ ID string } }
	e.API("POST", "/api/v0/service-accounts", map[string]any{"name": "robot"}, &robot)
	e.API("POST", "/api/v0/service-accounts", map[string]any{"name": "builds"}, &builds)
	e.API("POST", "/api/v0/service-accounts/"+builds.ID+"/api-keys", map[string]any{"name": "deploy"}, &key)
	hcl := fmt.Sprintf(`
resource "agentyard_service_account" "new" {
  count = 20
  name  = "new-${count.index}"
}
resource "agentyard_api_key" "of_the_new" {
  count              = 20
  service_account_id = agentyard_service_account.new[count.index].id
  name               = "deploy"
}
resource "agentyard_api_key" "new" {
  count              = 20
  service_account_id = %q
  name               = "new-${count.index}"
}
`, builds.ID)
	cli := acctest.NewCLI(t, e, hcl)
	e.Journal().Reset()
	if out := cli.MustRun("plan", "-input=false").Output; strings.Contains(out, "Taken") || !strings.Contains(out, "60 to add") {
		t.Errorf("new ones:\n%s", out)
	}
	if e.Journal().Count("listServiceAccounts") != 1 || len(e.Journal().Entries()) != 1 {
		t.Errorf("the plan of sixty new objects asked %+v", e.Journal().Entries())
	}

	cli.Write("main.tf", fmt.Sprintf(`
resource "agentyard_service_account" "taken" {
  name = "robot"
}
resource "agentyard_api_key" "taken" {
  service_account_id = %q
  name               = "deploy"
}
`, builds.ID))
	acctest.Says(t, cli.MustRun("plan", "-input=false").Output, "2 to add")
	r := cli.Run("apply", "-auto-approve", "-input=false")
	if r.ExitCode == 0 || e.Journal().Count("createServiceAccount")+e.Journal().Count("createApiKey") != 0 {
		t.Errorf("the apply created something:\n%s", r.Output)
	}
	for _, want := range []string{"terraform import ADDRESS " + robot.ID, "terraform import ADDRESS " + builds.ID + "/" + key.APIKey.ID, "action.agentyard_api_key_revoke.NAME"} {
		acctest.Says(t, acctest.OneLine(r.Output), want)
	}

	// A new key with a missing account can be planned, because a destroy also plans keys whose account is gone.
	cli.Write("main.tf", "resource \"agentyard_api_key\" \"lost\" {\n  service_account_id = \"sa_unknown\"\n  name = \"deploy\"\n}\n")
	if r := cli.MustRun("plan", "-input=false"); !strings.Contains(acctest.OneLine(r.Output), `service_account_id = "sa_unknown"`) {
		t.Errorf("an unknown account:\n%s", r.Output)
	}
}

func TestAccServiceAccount_aRoleTooLowFailsInThePlan(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	_, key, err := e.AddHuman(emulator.Human{Email: "dev@people.example", Role: "user"})
	acctest.Must(t, err)
	cli := acctest.NewCLI(t, e, "resource \"agentyard_service_account\" \"new\" {\n  count = 5\n  name  = \"new-${count.index}\"\n}\n")
	cli.Setenv("AGENTYARD_API_KEY", key)
	r := cli.Run("plan", "-input=false")
	if out := acctest.OneLine(r.Output); r.ExitCode == 0 || strings.Count(out, "Error: ") != 1 || !strings.Contains(out, "Manager role or higher") || e.Journal().Count("listServiceAccounts") != 1 {
		t.Errorf("exit code %d, %d listings:\n%s", r.ExitCode, e.Journal().Count("listServiceAccounts"), r.Output)
	}
}
