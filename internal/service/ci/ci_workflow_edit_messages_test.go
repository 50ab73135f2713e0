package ci_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The API describes one outcome per repository, so a single outcome counts for all its files. Two outcomes for three files
// leave one unknown.
func TestCIWorkflowEdit_severalFilesOfARepository(t *testing.T) {
	t.Parallel()
	const pull = `{"repoFullName":"acme/api","prUrl":"P"}`
	for sessions, tc := range map[string]struct{ progress, errors string }{
		pull: {"pull request P", ""},
		pull + "," + pull + `,{"repoFullName":"acme/api","message":"M"}`: {"pull request P; pull request P; no pull request: M", ""},
		`{"repoFullName":"acme/api","error":"E"}`:                        {"error: E", "3 of 3 workflows failed:"},
		pull + `,{"repoFullName":"acme/api","error":"E"}`:                {"pull request P; error: E; unknown: the response has no result for 1 workflow", "1 of 3 workflows failed:"},
	} {
		e := acctest.New(t)
		e.Faults().Add(emulator.Fault{Operation: "editCiWorkflow", Kind: emulator.FaultOtherResponse, Body: `{"sessions":[` + sessions + `]}`})
		file := func(name string) any { return repo("acme/api", ".github/workflows/"+name) }
		progress, out := acctest.NewProcess(t, e, nil).Invoke(typeName, creation(file("a.yml"), file("b.yml"), repo("acme/api")))
		want := "acme/api (.github/workflows/a.yml, .github/workflows/b.yml, a file that the service chooses): " + tc.progress
		if len(progress) != 2 || progress[1] != want {
			t.Errorf("progress %q", progress)
		}
		if (len(out.Errors) > 0) != (tc.errors != "") || !strings.Contains(out.Text(), tc.errors) {
			t.Errorf("%s: %s", sessions, out.Text())
		}
	}
}

// Messages must be sent before the request, because Terraform shows none after an interrupt.
func TestCIWorkflowEdit_announcement(t *testing.T) {
	t.Parallel()
	var requests sent
	e := acctest.New(t, requests.option)
	p := acctest.NewProcess(t, e, nil)
	progress, _ := p.Invoke(typeName, creation(repo("acme/api"), repo("robin/tools", review)))
	var body struct{ ServiceAutomationID string }
	acctest.Must(t, json.Unmarshal([]byte(requests.bodies[0]), &body))
	for _, want := range []string{"action create in acme/api, robin/tools (" + review + ")", "new service automation ID is " + body.ServiceAutomationID + ".", "If you interrupt", "agentyard_ci_jobs", "created or updated at or after 20"} {
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

// Without an earlier response, one request reads the service's time. The local clock is never used.
func TestCIWorkflowEdit_tellsTheServicesTime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		isRefused bool
		want      string
	}{
		"told":                {want: "created or updated at or after 2026-03-01T12:00:0"},
		"told with a refusal": {isRefused: true, want: "created or updated at or after 2026-03-01T12:00:0"},
	} {
		e := acctest.New(t)
		if tc.isRefused {
			e.Faults().Add(emulator.Fault{Operation: "listCiJobs", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusForbidden})
		}
		progress, out := acctest.NewProcess(t, e, nil).Invoke(typeName, creation(repo("acme/api")))
		if len(out.Errors) > 0 || !strings.Contains(progress[0], tc.want) || strings.Contains(progress[0], "this machine") {
			t.Errorf("%s: %q: %s", name, progress, out.Text())
		}
		if n := e.Journal().Count("listCiJobs"); n != 1 || pulls(t, e) != 1 {
			t.Errorf("%s: %d reads, %d pull requests", name, n, pulls(t, e))
		}
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
