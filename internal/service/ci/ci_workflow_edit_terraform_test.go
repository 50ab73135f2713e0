package ci_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// The messages of a partial failure appear whole. Another invocation opens another pull request.
func TestAccCIWorkflowEdit_invokedByHand(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	cli := acctest.NewCLI(t, e, `action "agentyard_ci_workflow_edit" "it" {
  config {
    action = "create"
    repos  = [{ repo_full_name = "acme/api" }, { repo_full_name = "acme/legacy" }]
  }
}
`)
	for _, pull := range []string{"https://code.example/acme/api/pull/1", "https://code.example/acme/api/pull/2"} {
		r := cli.Run("apply", "-invoke=action.agentyard_ci_workflow_edit.it", "-auto-approve", "-input=false")
		if r.ExitCode == 0 {
			t.Error("the invocation succeeds")
		}
		acctest.Says(t, acctest.OneLine(r.Output), "acme/api: pull request "+pull, "acme/legacy: error: The permission read", "Cannot edit CI workflow",
			"failed or have no known result: acme/legacy: error: The permission read", "Pull requests were opened: "+pull)
	}
}
