package examples

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// operations are the requests that the example of each operation's resource sends, by type name.
var operations = map[string]map[string]int{
	"agentyard_api_key_revoke":           {"revokeApiKey": 1},
	"agentyard_ci_workflow_edit":         {"editCiWorkflow": 1},
	"agentyard_computer_activity":        {"recordComputerActivity": 1},
	"agentyard_computer_file_upload":     {"completeFileUpload": 3, "createApiKey": 1},
	"agentyard_computer_install_deps":    {"installComputerDeps": 1},
	"agentyard_computer_refresh":         {"refreshComputer": 1},
	"agentyard_computer_restart":         {"restartComputer": 1},
	"agentyard_environment_build":        {"createEnvironmentBuild": 1},
	"agentyard_environment_build_cancel": {"cancelEnvironmentBuild": 0}, // The latest build has ended.
	"agentyard_member_remove":            {"removeMember": 1},
	"agentyard_session_answer":           {"sendSessionMessage": 1},
	"agentyard_session_interrupt":        {"interruptSession": 1},
	"agentyard_session_message":          {"sendSessionMessage": 1},
}

// Each example runs its operation once. The next plan is empty, and a destroy does not repeat it.
func TestAccExamples_operations_everyCLI(t *testing.T) {
	t.Parallel()
	for _, name := range names(t, "actions") {
		if operations[name] == nil {
			t.Errorf("add a row for the example of %s to operations in internal/acctest/examples/operations_test.go", name)
		}
	}
	for name, sent := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "agentyard_computer_file_upload" {
				acctest.NeedsWriteOnly(t)
			}
			o := newOrganization(t)
			cli := acctest.NewCLI(t, o.Env, o.replace(acctest.Example(t, "resources/"+name+"/resource.tf")))
			cli.Write("data.tar.gz", "packed")
			o.Journal().Reset()
			cli.MustRun("apply", "-auto-approve", "-input=false")
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			for operation, want := range sent {
				o.WantRequests(t, operation, want)
			}
		})
	}
}
