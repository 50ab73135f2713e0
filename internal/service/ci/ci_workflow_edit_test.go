package ci_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const typeName = "agentyard_ci_workflow_edit"

// repo returns a repository, or one of its workflows if there is a file.
func repo(name string, file ...string) any {
	values := map[string]any{"repo_full_name": name}
	if len(file) > 0 {
		values["file_path"] = file[0]
	}
	return values
}

// creation requests a workflow in repositories.
func creation(repos ...any) acctest.Values {
	return acctest.Values{"action": "create", "repos": repos}
}

// pulls counts the pull requests in the emulator's repositories.
func pulls(t *testing.T, e *acctest.Env) int {
	t.Helper()
	n := 0
	for _, name := range []string{"acme/api", "acme/web", "acme/legacy", "robin/tools"} {
		opened, err := e.CIPullRequests(name)
		check.Must(t, err)
		n += len(opened)
	}
	return n
}

// session matches the service's session of a pull request.
var session = regexp.MustCompile(` \(session [0-9a-f-]{36}\)`)

// outcomes returns the progress messages after the request, without sessions, which always differ. The messages before must
// name the repositories.
func outcomes(t *testing.T, progress []string) []string {
	t.Helper()
	if len(progress) == 0 || !strings.HasPrefix(progress[0], "requesting pull requests with action ") {
		t.Errorf("progress begins with %q", progress)
		return nil
	}
	all := slices.Clone(progress[1:])
	for i, message := range all {
		if all[i] = session.ReplaceAllString(message, ""); strings.Count(message, " pull request http") != strings.Count(message, "(session ") && !strings.Contains(message, "/pull/9") {
			t.Errorf("a session is missing in %s", message)
		}
	}
	return all
}

func TestCIWorkflowEdit_outcomes(t *testing.T) {
	t.Parallel()
	const other = ".github/workflows/other.yml"
	for name, tc := range map[string]struct {
		config   acctest.Values
		progress []string
		// errors are parts of the only error. Empty if there is none.
		errors []string
		pulls  int
	}{
		"several": {
			creation(repo("acme/web", other), repo("robin/tools"), repo("ACME/api")),
			[]string{"acme/web: pull request https://code.example/acme/web/pull/1", "robin/tools: pull request https://code.example/robin/tools/pull/1", "ACME/api: pull request https://code.example/acme/api/pull/1"},
			nil, 3,
		},
		"two files of one, one of which fails": {
			creation(repo("acme/web", review), repo("acme/web", other)),
			[]string{"acme/web: error: The repository acme/web has a workflow " + review + " already.", "acme/web: pull request https://code.example/acme/web/pull/1"},
			[]string{"Cannot edit CI workflow", "failed or have no known result:\nacme/web: error: The repository acme/web has", "Pull requests were opened", "remove finished repositories from repos"}, 1,
		},
		"nothing to do": {
			acctest.Values{"action": "delete", "repos": []any{repo("acme/api", other)}},
			[]string{"acme/api: no pull request: There is nothing to do: the repository acme/api has no workflow " + other + "."}, nil, 0,
		},
		"some fail": {
			creation(repo("acme/web"), repo("acme/api"), repo("acme/legacy"), repo("acme/none")),
			[]string{
				"acme/web: error: The repository acme/web has a workflow " + review + " already.", "acme/api: pull request https://code.example/acme/api/pull/1",
				"acme/legacy: error: The permission read is not enough to change the repository acme/legacy.", "acme/none: error: The code-host integration of the organization does not cover the repository acme/none.",
			},
			[]string{
				"Cannot edit CI workflow", "failed or have no known result:\nacme/web: error: The repository acme/web has a workflow", "\nacme/legacy: error: The permission read is not enough",
				"\nacme/none: error: The code-host integration of the organization does not cover", "Pull requests were opened: https://code.example/acme/api/pull/1\n", "remove finished repositories from repos", "agentyard_ci_repositories",
				"set service_automation_id to ",
			},
			1,
		},
		"all fail": {
			creation(repo("acme/none")), []string{"acme/none: error: The code-host integration of the organization does not cover the repository acme/none."},
			[]string{"The response lists no opened pull request."}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			progress, out := acctest.NewProcess(t, e, nil).Invoke(typeName, tc.config)
			check.Is(t, "progress", outcomes(t, progress), tc.progress)
			if len(out.Errors) != min(len(tc.errors), 1) || len(out.Warnings) > 0 {
				t.Errorf("got %d errors: %s", len(out.Errors), out.Text())
			}
			check.Says(t, out.Text(), tc.errors...)
			if len(tc.errors) > 0 && out.Errors[0].Attribute.String() != `AttributeName("repos")` {
				t.Errorf("the error is at %s", out.Errors[0].Attribute)
			}
			if n := pulls(t, e); n != tc.pulls || e.Journal().Count("editCiWorkflow") != 1 {
				t.Errorf("%d pull requests after %d requests", n, e.Journal().Count("editCiWorkflow"))
			}
		})
	}
}

// A partial result of the resource is stored, so that the next apply does not open the pull requests of the good repositories again.
func TestCIWorkflowEdit_partialResult(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(typeName)
	config := creation(repo("acme/none"), repo("acme/api"))
	out := p.Apply(i, config)
	if len(out.Errors) > 0 || len(out.Warnings) != 1 || i.Tainted {
		t.Fatalf("errors %s, %d warnings", out.Text(), len(out.Warnings))
	}
	check.Says(t, out.Warnings[0].Detail, "acme/none: error: The code-host integration", "Pull requests were opened: https://code.example/acme/api/pull/1", "set service_automation_id to ")
	state := i.State.String()
	check.Says(t, state, "does not cover the repository acme/none", "https://code.example/acme/api/pull/1")
	if out := p.Apply(i, config); len(out.Errors)+len(out.Warnings) > 0 || out.Action != acctest.ActionNone || e.Journal().Count("editCiWorkflow") != 1 {
		t.Errorf("the second apply: %v, %d requests, %s", out.Action, e.Journal().Count("editCiWorkflow"), out.Text())
	}
	config["triggers"] = map[string]any{"again": "1"}
	if out := p.Apply(i, config); len(out.Errors) > 0 || e.Journal().Count("editCiWorkflow") != 2 {
		t.Errorf("a trigger: %d requests, %s", e.Journal().Count("editCiWorkflow"), out.Text())
	}
	none := p.NewInstance(typeName)
	if out := p.Apply(none, creation(repo("acme/none"))); len(out.Errors) != 1 || !none.State.IsNull() {
		t.Errorf("all fail: %s, state %s", out.Text(), none.State)
	}
}

// The request contains the configuration. A new workflow has an automation and a mode; a delete needs neither.
func TestCIWorkflowEdit_request(t *testing.T) {
	t.Parallel()
	const automation = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	everything := map[string]any{
		"name": "N", "yaml_params": "review_depth: deep\n", "custom_prompt": "P", "schedule": "0 6 * * 1", "github_events": []any{"push", "pr-opened"}, "custom_ci_model": "M", "custom_ci_reasoning_effort": "high",
	}
	const everythingSent = `"changes":{"name":"N","yamlParams":"review_depth: deep\n","customPrompt":"P","schedule":"0 6 * * 1","githubEvents":["push","pr-opened"],"customCIModel":"M","customCIReasoningEffort":"high"}`
	for name, tc := range map[string]struct {
		config acctest.Values
		want   string
	}{
		"create": {creation(repo("acme/api")), `{"action":"create","repos":[{"repoFullName":"acme/api"}],"serviceAutomationId":"NEW","modeId":"code-review"}`},
		"create with everything": {
			acctest.Values{"action": "create", "repos": []any{repo("acme/api", review)}, "changes": everything, "automation_name": "A", "service_automation_id": automation, "mode_id": "qa"},
			`{"action":"create","repos":[{"repoFullName":"acme/api","filePath":"` + review + `"}],` + everythingSent + `,"automationName":"A","serviceAutomationId":"` + automation + `","modeId":"qa"}`,
		},
		"edit": {
			acctest.Values{"action": "edit", "repos": []any{repo("acme/web", review)}, "changes": map[string]any{"custom_prompt": "", "schedule": "", "github_events": []any{}}},
			`{"action":"edit","repos":[{"repoFullName":"acme/web","filePath":"` + review + `"}],"changes":{"customPrompt":"","schedule":"","githubEvents":[]}}`,
		},
		"delete with everything": {
			acctest.Values{"action": "delete", "repos": []any{repo("acme/web", review)}, "changes": everything, "automation_name": "A", "service_automation_id": automation, "mode_id": "qa"},
			`{"action":"delete","repos":[{"repoFullName":"acme/web","filePath":"` + review + `"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := acctest.Sent{Path: "/api/v0/automations/ci"}
			e := acctest.New(t, requests.Option)
			p := acctest.NewProcess(t, e, nil)
			made := map[string]bool{}
			for range 2 {
				if _, out := p.Invoke(typeName, tc.config); len(out.Errors) > 0 {
					t.Error(out.Text())
				}
			}
			sent := requests.Take()
			for _, body := range sent {
				body, _ := strings.CutPrefix(body, "POST ")
				var ids struct{ ServiceAutomationID string }
				check.Must(t, json.Unmarshal([]byte(body), &ids))
				want := tc.want
				if strings.Contains(want, "NEW") {
					if uuid.Validate(ids.ServiceAutomationID) != nil || made[ids.ServiceAutomationID] {
						t.Errorf("%q is no new UUID", ids.ServiceAutomationID)
					}
					made[ids.ServiceAutomationID] = true
					want = strings.Replace(want, "NEW", ids.ServiceAutomationID, 1)
				}
				check.Is(t, "sent", body, want)
			}
			check.Is(t, "requests", len(sent), 2)
		})
	}
}

// A request that may have been carried out is not sent again, and its error says where to look.
func TestCIWorkflowEdit_faults(t *testing.T) {
	t.Parallel()
	uncertain := []string{
		"Cannot edit CI workflow", "Pull requests may have been opened in acme/api, robin/tools (" + review + ")", "Before you run it again, check the pull requests", "set service_automation_id to ", "editCiWorkflow",
	}
	status := func(code int) emulator.Fault {
		return emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: code, Times: -1}
	}
	for name, tc := range map[string]struct {
		fault        emulator.Fault
		want         []string // Empty means success.
		posts, pulls int
	}{
		"rate limited":         {emulator.Fault{Kind: emulator.FaultRateLimited, Times: 2}, nil, 3, 2},
		"dropped after commit": {emulator.Fault{Kind: emulator.FaultDropAfterCommit, Times: -1}, uncertain, 1, 2},
		"another answer":       {emulator.Fault{Kind: emulator.FaultOtherResponse, Body: `{}`, Times: -1}, append([]string{"the field sessions is missing"}, uncertain...), 1, 2},
		"403":                  {status(403), []string{"Cannot edit CI workflow", "returned 403", "No pull request was opened", "can write to the repositories"}, 1, 0},
		"404":                  {status(404), []string{"Cannot edit CI workflow", "returned 404", "No pull request was opened", "path in base_url", "agentyard_ci_repositories"}, 1, 0},
		"409":                  {status(409), []string{"Cannot edit CI workflow", "returned 409", "No pull request was opened"}, 1, 0},
		"another server":       {emulator.Fault{Kind: emulator.FaultOtherServer, Status: 404, Body: "<html>", Times: -1}, append([]string{"returned 404"}, uncertain...), 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			tc.fault.Operation = "editCiWorkflow"
			e.Faults().Add(tc.fault)
			p := acctest.NewProcess(t, e, nil)
			progress, out := p.Invoke(typeName, creation(repo("acme/api"), repo("robin/tools", review)))
			check.Says(t, out.Text(), tc.want...)
			if isWrong := len(tc.want) > 0; isWrong != (len(out.Errors) == 1) || len(progress) == 0 || isWrong == (len(outcomes(t, progress)) > 0) {
				t.Errorf("progress %q, errors %s", progress, out.Text())
			}
			check.Lacks(t, out.Text(), "It is safe to")
			if n := e.Journal().Count("editCiWorkflow"); n != tc.posts || pulls(t, e) != tc.pulls {
				t.Errorf("%d requests and %d pull requests", n, pulls(t, e))
			}
		})
	}
}

// A response that does not match the request is reported as it is. Only a pull request, or a message without an error, is a success.
func TestCIWorkflowEdit_answersThatDoNotFit(t *testing.T) {
	t.Parallel()
	const opened = `{"repoFullName":"acme/api","prUrl":"P"},`
	for name, tc := range map[string]struct {
		sessions string
		progress []string
		failed   string
	}{
		"one is missing":  {`{"repoFullName":"acme/api","prUrl":"P"}`, []string{"acme/api: pull request P", "acme/web: error: the response has no result"}, "acme/web: error: the response has no result"},
		"one more":        {opened + `{"repoFullName":"Acme/Web","message":"M"},{"repoFullName":"robin/tools","prUrl":"Q"}`, []string{"robin/tools: pull request Q", "acme/api: pull request P", "Acme/Web: no pull request: M"}, ""},
		"without a name":  {opened + `{"repoFullName":"acme/web","prUrl":"Q"},{"error":"E"}`, []string{"a result without a repository: error: E", "acme/api: pull request P", "acme/web: pull request Q"}, "a result without a repository: error: E"},
		"a session alone": {opened + `{"repoFullName":"acme/web","sessionId":"s"}`, []string{"acme/api: pull request P", "acme/web: error: neither a pull request nor an error (session s)"}, "acme/web: error: neither a pull request nor an error (session s)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			e.Faults().Add(emulator.Fault{Operation: "editCiWorkflow", Kind: emulator.FaultOtherResponse, Body: `{"sessions":[` + tc.sessions + `]}`})
			progress, out := acctest.NewProcess(t, e, nil).Invoke(typeName, creation(repo("acme/api"), repo("acme/web")))
			if !slices.Equal(progress[1:], tc.progress) || len(out.Warnings) > 0 {
				t.Errorf("progress %q, warnings %v", progress, out.Warnings)
			}
			if (len(out.Errors) > 0) != (tc.failed != "") || !strings.Contains(out.Text(), tc.failed) || strings.Contains(tc.sessions, `"prUrl"`) && tc.failed != "" && !strings.Contains(out.Text(), "Pull requests were opened: P") {
				t.Errorf("errors %s", out.Text())
			}
		})
	}
}

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
	e.MustNotInvoke(t, nil, typeName, ofRepos("delete", repo("acme/api")), "repos[0].file_path", "is required if action is delete")
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
	check.Must(t, json.Unmarshal([]byte(strings.TrimPrefix(requests.Take()[0], "POST ")), &body))
	check.Says(t, progress[0], "action create in acme/api, robin/tools ("+review+")", "new service automation ID is "+body.ServiceAutomationID)
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
		check.Says(t, acctest.OneLine(r.Output), "acme/api: pull request "+pull, "acme/legacy: error: The permission read", "Cannot edit CI workflow",
			"failed or have no known result: acme/legacy: error: The permission read", "Pull requests were opened: "+pull)
	}
}
