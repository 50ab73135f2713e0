package emulator_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A pull request changes nothing until it is merged.
func TestCIMerge(t *testing.T) {
	v := startParallel(t)
	const custom = ".github/workflows/agentyard-nightly.yml"
	v.opens(object{
		"action": "create", "automationName": "Nightly", "modeId": "custom", "serviceAutomationId": uuidA,
		"repos": []object{ciTarget("acme/api", "")},
		"changes": object{
			"schedule": "0 3 * * MON-FRI", "githubEvents": []string{"label-change", "push", "pr-opened", "push"}, "customPrompt": "Look for dead links.",
			"customCIModel": "large", "customCIReasoningEffort": "high", "yamlParams": "review_depth: deep\nautomatic_security_review: true\nunknown\n",
		},
	}, "https://code.example/acme/api/pull/1")
	same(t, "before the merge", v.workflows(), "acme/web "+reviewFile)
	v.clock.Advance(time.Minute)
	v.merge("acme/API", custom)
	same(t, "after the merge", v.workflows(), "acme/api "+custom+", acme/web "+reviewFile)
	created := v.workflow("acme/api", custom)
	sha := created["fileSha"]
	if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(sha.(string)) {
		t.Errorf("fileSha: %v", sha)
	}
	delete(created, "fileSha")
	if got, want := fmt.Sprint(created), fmt.Sprint(object{
		"repoFullName": "acme/api", "filePath": custom, "workflowName": "Nightly", "triggerEvents": []string{"pull_request", "push", "schedule", "workflow_dispatch"},
		"scheduleCron": "0 3 * * MON-FRI", "githubUrl": "https://code.example/acme/api/blob/main/" + custom, "userPermission": "admin",
		"agentActionInputs": object{"actionRef": "v1", "reviewDepth": "deep", "automaticSecurityReview": "true", "model": "large", "reasoningEffort": "high"},
		"authoredBy":        object{"login": "manager", "name": "Avery Manager"},
	}); got != want {
		t.Errorf("workflow: %s, want %s", got, want)
	}
	jobs := v.ciJobs()
	if len(jobs) != 1 || jobs[0].Status != "ready" || jobs[0].UpdatedAt-jobs[0].CreatedAt != time.Minute.Milliseconds() {
		t.Errorf("jobs: %+v", jobs)
	}

	// An edit leaves alone what it does not name, and is compared with what is merged.
	change := object{"action": "edit", "repos": []object{ciTarget("acme/api", custom)}, "changes": object{"schedule": "", "githubEvents": []string{"push"}}}
	v.opens(change, "https://code.example/acme/api/pull/2")
	v.opens(change, "https://code.example/acme/api/pull/3")
	v.merge("acme/api", custom)
	changed := v.workflow("acme/api", custom)
	same(t, "after the edit", fmt.Sprint(changed["workflowName"], changed["triggerEvents"], changed["scheduleCron"], changed["agentActionInputs"].(object)["model"]), "Nightly[push workflow_dispatch] <nil>large")
	if changed["fileSha"] == sha {
		t.Error("the file has changed and its hash has not")
	}
	if got := v.outcomes(change); len(got) != 1 || !strings.Contains(got[0], "message: There is nothing to do") {
		t.Errorf("the same edit after its merge: %q", got)
	}

	v.opens(ciBody("delete", ciTarget("acme/api", custom)), "https://code.example/acme/api/pull/4")
	if got := v.workflows(); !strings.Contains(got, custom) {
		t.Errorf("before the deletion is merged: %s", got)
	}
	v.merge("acme/api", custom)
	same(t, "after the deletion", v.workflows(), "acme/web "+reviewFile)
	for _, again := range []string{custom, ".github/workflows/none.yml"} {
		fails(t, v.MergeWorkflow("acme/api", again), "no open pull request")
	}
}

func TestCIWorkflowOfTheStart(t *testing.T) {
	v := startParallel(t)
	w := v.workflow("acme/web", reviewFile)
	same(t, "workflow", fmt.Sprint(w["workflowName"], w["templateId"], w["triggerEvents"], w["scheduleCron"], w["userPermission"], w["authoredBy"], w["agentActionInputs"]), "Agent reviewcode-review[pull_request workflow_dispatch] <nil>writemap[login:robin name:Robin Reviewer] map[actionRef:v1 automaticReview:true reviewDepth:deep]")
	v.opens(ciBody("delete", ciTarget("acme/web", reviewFile)), "https://code.example/acme/web/pull/1")
	v.merge("acme/web", reviewFile)
	same(t, "after the deletion", v.workflows(), "")
}

// A scan is answered again for 30 minutes of the clock, whoever asks.
func TestCIScanCache(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	began := v.clock.Now()
	check := func(query string, after time.Duration, workflows int) {
		t.Helper()
		o := v.as(user, 200, "GET", ciAutomation+"/scan"+query, nil).object(t)
		if got := len(o["workflows"].([]any)); got != workflows || o["scannedAt"] != float64(began.Add(after).UnixMilli()) || o["cacheTtlMs"] != 1_800_000.0 {
			t.Errorf("%d workflows at %v for %v ms, want %d at %d", got, o["scannedAt"], o["cacheTtlMs"], workflows, began.Add(after).UnixMilli())
		}
	}
	check("", 0, 1)
	v.opens(ciBody("create", ciTarget("acme/api", "")), "https://code.example/acme/api/pull/1")
	v.merge("acme/api", reviewFile)
	v.clock.Advance(30*time.Minute - time.Millisecond)
	check("", 0, 1)
	check("?forceRefresh=false", 0, 1)
	v.clock.Advance(time.Millisecond)
	check("", 30*time.Minute, 2)
	v.clock.Advance(time.Minute)
	check("?forceRefresh=true", 31*time.Minute, 2)
}

// A repository that is disconnected has no workflows, and has them again when it is back.
func TestCIScanOfConnectedRepositories(t *testing.T) {
	v := startParallel(t)
	must(t, v.DisconnectRepository("https://code.example/acme/web"))
	same(t, "workflows", v.workflows(), "")
	must(t, v.ConnectRepository(emulator.Repository{URL: "https://code.example/acme/web", DefaultBranch: "trunk", UserPermission: "read"}))
	w := v.workflow("acme/web", reviewFile)
	fields(t, "workflow", w, object{"userPermission": "read", "githubUrl": "https://code.example/acme/web/blob/trunk/" + reviewFile})
}

func TestCIRuns(t *testing.T) {
	v := startParallel(t)
	show := func() string {
		t.Helper()
		return string(v.call(200, "GET", ciAutomation+"/runs", nil).raw)
	}
	same(t, "runs", show(), `{"runs":[],"integration":{"connected":true}}`)
	must(t, v.AddCIRun(map[string]any{"id": 7, "status": "queued", "conclusion": nil}))
	v.call(204, "POST", "/_emulator/ci/runs", object{"repoFullName": "acme/web", "steps": []any{object{"name": "review"}}})
	same(t, "runs", show(), `{"runs":[{"repoFullName":"acme/web","steps":[{"name":"review"}]},{"conclusion":null,"id":7,"status":"queued"}],"integration":{"connected":true}}`)
	v.detail(v.call(400, "POST", "/_emulator/ci/runs", "null"), "must be an object")
}

// Without the integration nothing is listed and nothing is edited; what was there comes back with it.
func TestCIWithoutTheIntegration(t *testing.T) {
	v := startParallel(t)
	v.opens(ciBody("create", ciTarget("acme/api", "")), "https://code.example/acme/api/pull/1")
	must(t, v.AddCIRun(map[string]any{"status": "queued"}))
	show := func() string {
		t.Helper()
		var texts []string
		for _, path := range []string{"/repository-owners", "/repositories", "/jobs", "/runs", "/scan"} {
			for name, value := range v.call(200, "GET", ciAutomation+path, nil).object(t) {
				switch value := value.(type) {
				case []any:
					texts = append(texts, fmt.Sprint(name, " ", len(value)))
				case object:
					texts = append(texts, fmt.Sprint("connected ", value["connected"]))
				}
			}
		}
		slices.Sort(texts)
		return strings.Join(texts, ", ")
	}
	const on = "connected true, connected true, connected true, jobs 1, owners 2, repositories 4, runs 1, workflows 1"
	same(t, "with the integration", show(), on)
	v.call(204, "POST", "/_emulator/integration/off", nil)
	same(t, "without the integration", show(), "connected false, connected false, connected false, jobs 0, owners 0, repositories 0, runs 0, workflows 0")
	if got := v.outcomes(ciBody("delete", ciTarget("acme/web", reviewFile))); len(got) != 1 || !strings.Contains(got[0], "error: The code-host integration") {
		t.Errorf("outcomes: %q", got)
	}
	v.call(204, "POST", "/_emulator/integration/on", nil)
	same(t, "with the integration again", show(), on)
}
