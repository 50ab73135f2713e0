package examples

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
)

// sent are the requests that the example of an operation sends, if they are not its own one, once.
var sent = map[string]map[string]int{
	"agentyard_computer_file_upload":     {"completeFileUpload": 3, "createApiKey": 1},
	"agentyard_environment_build_cancel": {"cancelEnvironmentBuild": 0}, // The latest build has ended.
	"agentyard_session_answer":           {"sendSessionMessage": 1},
}

// Each example runs its operation once. The next plan is empty, and a destroy does not repeat it.
func TestAccExamples_operations_everyCLI(t *testing.T) {
	t.Parallel()
	for _, operation := range specimens.Operations {
		if operation.Name != "" {
			continue
		}
		t.Run(operation.Type, func(t *testing.T) {
			t.Parallel()
			if operation.Type == "agentyard_computer_file_upload" {
				acctest.NeedsWriteOnly(t)
			}
			o := newOrganization(t)
			cli := acctest.NewCLI(t, o.Env, o.replace(acctest.Example(t, "resources/"+operation.Type+"/resource.tf")))
			cli.Write("data.tar.gz", "packed")
			o.Journal().Reset()
			cli.MustRun("apply", "-auto-approve", "-input=false")
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			wants := sent[operation.Type]
			if wants == nil {
				wants = map[string]int{operation.Request: 1}
			}
			for request, want := range wants {
				o.WantRequests(t, request, want)
			}
		})
	}
}
