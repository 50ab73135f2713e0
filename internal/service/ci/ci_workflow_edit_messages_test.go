package ci_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// Messages must be sent before the request, because Terraform shows none after an interrupt.
func TestCIWorkflowEdit_announcement(t *testing.T) {
	t.Parallel()
	requests := acctest.Sent{Path: "/api/v0/automations/ci"}
	e := acctest.New(t, requests.Option)
	p := acctest.NewProcess(t, e, nil)
	progress, _ := p.Invoke(typeName, creation(repo("acme/api"), repo("robin/tools", review)))
	var body struct{ ServiceAutomationID string }
	acctest.Must(t, json.Unmarshal([]byte(strings.TrimPrefix(requests.Take()[0], "POST ")), &body))
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
