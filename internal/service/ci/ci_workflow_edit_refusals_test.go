package ci_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// The checks of the validation are repeated in the plan, which knows the values of variables. What is not known yet is no error.
func TestCIWorkflowEdit_checks(t *testing.T) {
	t.Parallel()
	const unknown = tftypes.UnknownValue
	ofRepos := func(action string, repos ...any) acctest.Values {
		return acctest.Values{"action": action, "repos": repos}
	}
	with := func(name string, v any) acctest.Values {
		config := creation(repo("acme/api"))
		maps.Copy(config, acctest.Values{name: v})
		return config
	}
	changes := func(name string, v any) acctest.Values { return with("changes", map[string]any{name: v}) }
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	for name, tc := range map[string]struct {
		config acctest.Values
		want   map[string]string
	}{
		"another action":              {with("action", "Create"), map[string]string{"action": `must be "create", "edit", or "delete", not "Create".`}},
		"no repositories":             {ofRepos("create"), map[string]string{"repos": "must contain at least one repository"}},
		"an unknown repository":       {ofRepos("create", unknown, repo("acme/api")), nil},
		"no name":                     {ofRepos("create", repo("acme/api"), map[string]any{"file_path": review}), map[string]string{"repos[1].repo_full_name": "must not be null"}},
		"unknown names and files":     {ofRepos("create", map[string]any{"repo_full_name": unknown}, map[string]any{"repo_full_name": unknown}, map[string]any{"repo_full_name": "acme/api", "file_path": unknown}, map[string]any{"repo_full_name": "acme/api", "file_path": unknown}), nil},
		"other files":                 {ofRepos("create", repo("acme/api"), repo("acme/api", review), repo("acme/api", ".github/workflows/Agent-review.yml")), nil},
		"a repository twice":          {ofRepos("create", repo("acme/api"), repo("robin/tools"), repo("ACME/api")), map[string]string{"repos[2]": "the same repository and file as repos[0]"}},
		"edit without changes":        {ofRepos("edit", repo("acme/api", review)), map[string]string{"changes": "is required if action is edit"}},
		"edit with unknown changes":   {acctest.Values{"action": "edit", "repos": []any{repo("acme/api", review)}, "changes": unknown}, nil},
		"edit without a file":         {acctest.Values{"action": "edit", "repos": []any{repo("acme/api", review), repo("acme/web")}, "changes": map[string]any{}}, map[string]string{"repos[1].file_path": "is required if action is edit"}},
		"delete without a file":       {ofRepos("delete", repo("acme/api")), map[string]string{"repos[0].file_path": "is required if action is delete"}},
		"a blank automation":          {with("service_automation_id", " "), map[string]string{"service_automation_id": "must not be blank"}},
		"a blank name":                {with("automation_name", " "), map[string]string{"automation_name": "must not be blank"}},
		"what no document bounds":     {acctest.Values{"action": "create", "service_automation_id": "a1", "repos": []any{repo("acme/api", "ci/a.json")}, "changes": map[string]any{"schedule": "@daily", "github_events": []any{"release"}}}, nil},
		"an unknown event":            {changes("github_events", []any{unknown, "push"}), nil},
		"a blank event":               {changes("github_events", []any{"push", ""}), map[string]string{"changes.github_events[1]": "must not be blank"}},
		"several things are wrong":    {acctest.Values{"action": "x", "repos": []any{repo("x", " ")}, "mode_id": ""}, map[string]string{"action": "", "repos[0].repo_full_name": "must be owner/name", "repos[0].file_path": "", "mode_id": ""}},
		"everything is still to come": {acctest.Values{"action": unknown, "repos": unknown, "changes": unknown, "automation_name": unknown, "service_automation_id": unknown, "mode_id": unknown}, nil},
	} {
		out := p.PlanAction(typeName, tc.config)
		if len(out.Errors) != len(tc.want) {
			t.Errorf("%s: %s", name, out)
		}
		for at, want := range tc.want {
			out.MustInclude(t, at, want)
		}
	}
	_, out := p.Invoke(typeName, ofRepos("delete", repo("acme/api")))
	out.MustFail(t, "repos[0].file_path", "is required if action is delete")
	e.WantRequests(t, "editCiWorkflow", 0)
}

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
