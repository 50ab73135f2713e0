package ci_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Messages must be sent before the request, because Terraform shows none after an interrupt.
func TestCIWorkflowEdit_announcement(t *testing.T) {
	t.Parallel()
	var requests sent
	e := acctest.New(t, requests.option)
	p := acctest.NewProcess(t, e, nil)
	progress, _ := p.Invoke(typeName, creation(repo("acme/api"), repo("robin/tools", review)))
	var body struct{ ServiceAutomationID string }
	acctest.Must(t, json.Unmarshal([]byte(requests.bodies[0]), &body))
	for _, want := range []string{"action create in acme/api, robin/tools (" + review + ")", "new service automation ID is " + body.ServiceAutomationID} {
		if !strings.Contains(progress[0], want) {
			t.Errorf("%q is missing in %s", want, progress[0])
		}
	}
	// The configured ID is already known to the user.
	config := creation(repo("acme/api"))
	config["service_automation_id"] = body.ServiceAutomationID
	if progress, _ := p.Invoke(typeName, config); strings.Contains(progress[0], body.ServiceAutomationID) {
		t.Error(progress[0])
	}
}

// A rejected value is shown at its argument.
func TestCIWorkflowEdit_refusalsAtArguments(t *testing.T) {
	t.Parallel()
	for detail, at := range map[string]string{
		"repos[1].filePath must be shorter": `AttributeName("repos").ElementKeyInt(1).AttributeName("file_path")`, "changes.customCIModel is not known": `AttributeName("changes").AttributeName("custom_ci_model")`,
		"modeId is not known": `AttributeName("mode_id")`, "serviceAutomationId is taken": `AttributeName("service_automation_id")`, "automationName is too long": `AttributeName("automation_name")`,
	} {
		e := acctest.New(t)
		body, err := json.Marshal(map[string]any{"detail": detail, "status": 400, "title": "Bad Request"})
		acctest.Must(t, err)
		e.Faults().Add(emulator.Fault{Operation: "editCiWorkflow", Kind: emulator.FaultOtherServer, Status: 400, Body: string(body)})
		_, out := acctest.NewProcess(t, e, nil).Invoke(typeName, creation(repo("acme/api"), repo("acme/web")))
		if len(out.Errors) != 1 || out.Errors[0].Attribute.String() != at || !strings.Contains(out.Text(), detail) {
			t.Errorf("%s: %s", detail, out.Text())
		}
	}
}
