package guides

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// What one manager has applied is the same to another one, and the account's own key works beside it.
func sharingComputers(g *reader) {
	_, colleague, err := g.e.AddHuman(emulator.Human{Email: "colleague@agentyard.example", Role: emulator.RoleManager})
	if err != nil {
		g.t.Fatal(err)
	}
	g.step()
	g.cli.MustPlanEmpty()
	g.cli.Setenv("AGENTYARD_API_KEY", colleague)
	g.cli.MustPlanEmpty()

	g.step()
	g.run("export AGENTYARD_API_KEY=$(terraform output -raw pipeline_key)\nterraform -chdir=pipeline plan -detailed-exitcode")
	g.cli.MustPlanEmpty()
	g.run("AGENTYARD_API_KEY=$(terraform output -raw pipeline_key) terraform -chdir=pipeline destroy\nterraform destroy")
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
