package ci_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func editAction(arguments string, repos ...string) string {
	return fmt.Sprintf("action \"agentyard_ci_workflow_edit\" \"it\" {\n  config {\n    %s\n    repos = [%s]\n  }\n}\n", arguments, strings.Join(repos, ", "))
}

func repoBlock(name, file string) string {
	if file == "" {
		return fmt.Sprintf("{ repo_full_name = %q }", name)
	}
	return fmt.Sprintf("{ repo_full_name = %q, file_path = %q }", name, file)
}

// invoke runs the action as a user does, and returns the output in one line.
func invoke(cli *acctest.CLI, args ...string) (exitCode int, shown string) {
	r := cli.Run(append([]string{"apply", "-invoke=action.agentyard_ci_workflow_edit.it", "-auto-approve", "-input=false"}, args...)...)
	return r.ExitCode, acctest.OneLine(r.Output)
}

func TestAccCIWorkflowEdit_invokedByHand(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	cli := acctest.NewCLI(t, e, editAction(`action = "create"`, repoBlock("acme/api", ""), repoBlock("acme/legacy", "")))
	cli.MustPlanEmpty()
	code, shown := invoke(cli)
	for _, want := range []string{
		"acme/api: pull request https://code.example/acme/api/pull/1", "acme/legacy: error: The permission read", "Cannot edit CI workflow", "failed or have no known result: acme/legacy: error: The permission read",
		"Pull requests were opened: https://code.example/acme/api/pull/1",
	} {
		if code == 0 || !strings.Contains(shown, want) {
			t.Errorf("exit code %d, want %s: %s", code, want, shown)
		}
	}
	// Another invocation opens another pull request.
	if code, shown := invoke(cli); code == 0 || !strings.Contains(shown, "https://code.example/acme/api/pull/2") || pulls(t, e) != 2 {
		t.Errorf("exit code %d: %s", code, shown)
	}
}

// Errors are found before anything is sent, whether the value is literal, from a variable, or computed by a resource.
func TestAccCIWorkflowEdit_checks(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	const trigger = `
resource "terraform_data" "x" {
  input = "acme/api/.."
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.agentyard_ci_workflow_edit.it]
    }
  }
}
`
	e := acctest.New(t)
	for name, tc := range map[string]struct {
		hcl  string
		args []string
		want string
	}{
		"written":                   {editAction(`action = "edit"`, repoBlock("acme/api", "")), nil, "repos[0].file_path is required if action is edit"},
		"no repository":             {editAction(`action = "create"`), nil, "repos must contain at least one repository"},
		"a variable":                {"variable \"name\" {\n  type = string\n}\n" + editAction(`action = "create"`, `{ repo_full_name = var.name }`), []string{"-var=name=acme/%2e%2e"}, `repos[0].repo_full_name must be owner/name`},
		"a variable without a name": {"variable \"name\" {\n  type = string\n  default = null\n}\n" + editAction(`action = "create"`, `{ repo_full_name = var.name }`), nil, "repos[0].repo_full_name must not be null"},
		"a resource":                {trigger + editAction(`action = "create"`, `{ repo_full_name = terraform_data.x.output }`), []string{"apply"}, `repos[0].repo_full_name must be owner/name`},
	} {
		cli := acctest.NewCLI(t, e, tc.hcl)
		code, shown := 0, ""
		if slices.Equal(tc.args, []string{"apply"}) {
			r := cli.Run("apply", "-auto-approve", "-input=false")
			code, shown = r.ExitCode, acctest.OneLine(r.Output)
		} else {
			code, shown = invoke(cli, tc.args...)
		}
		if code == 0 || !strings.Contains(shown, tc.want) {
			t.Errorf("%s: exit code %d: %s", name, code, shown)
		}
	}
	e.WantRequests(t, "editCiWorkflow", 0)
}

// A read in the same run as an edit returns the edit's jobs.
func TestAccCIWorkflowEdit_triggeredByAResource(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	cli := acctest.NewCLI(t, e, editAction("action = \"delete\"", repoBlock("acme/web", review))+`
resource "terraform_data" "retired" {
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.agentyard_ci_workflow_edit.it]
    }
  }
}
data "agentyard_ci_jobs" "now" {}
output "jobs" {
  value = data.agentyard_ci_jobs.now.jobs[*].id
}
`)
	if cli.MustRun("plan", "-input=false"); pulls(t, e) != 0 {
		t.Error("the plan opens a pull request")
	}
	if cli.MustRun("apply", "-auto-approve", "-input=false"); pulls(t, e) != 1 {
		t.Errorf("%d pull requests", pulls(t, e))
	}
	if r := cli.MustRun("apply", "-auto-approve", "-input=false"); pulls(t, e) != 1 || !strings.Contains(r.Output, "acme/web::"+review) {
		t.Errorf("%d pull requests: %s", pulls(t, e), r.Output)
	}
	cli.MustPlanEmpty()
}
