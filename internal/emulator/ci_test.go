package emulator_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	ciAutomation = "/api/v0/automations/ci"
	ciEdit       = ciAutomation + "/edit"
	reviewFile   = ".github/workflows/agent-review.yml"
)

// ciTarget is an entry of repos; without a file it has no filePath.
func ciTarget(repo, file string) object {
	o := object{"repoFullName": repo}
	if file != "" {
		o["filePath"] = file
	}
	return o
}

// ciBody is a body without changes.
func ciBody(action string, targets ...object) object {
	return object{"action": action, "repos": targets}
}

// outcomes sends an edit and shows its response with a line for each repository, without the parts that are random.
func (v *env) outcomes(body any) []string {
	v.t.Helper()
	var lines []string
	for _, entry := range v.call(200, "POST", ciEdit, body).object(v.t)["sessions"].([]any) {
		o := entry.(object)
		line := fmt.Sprint(o["repoFullName"])
		for _, field := range []string{"prUrl", "message", "error"} {
			if o[field] != nil {
				line += fmt.Sprintf(" %s: %v", field, o[field])
			}
		}
		same(v.t, fmt.Sprintf("session beside a pull request: %v", o), o["sessionId"] != nil, o["prUrl"] != nil)
		lines = append(lines, line)
	}
	return lines
}

// opens sends an edit of one repository, which must open this pull request.
func (v *env) opens(body any, want string) {
	v.t.Helper()
	if got := v.outcomes(body); len(got) != 1 || !strings.HasSuffix(got[0], " prUrl: "+want) {
		v.t.Errorf("outcomes: %q, want the pull request %s", got, want)
	}
}

func (v *env) merge(repo, file string) {
	v.t.Helper()
	check.Must(v.t, v.MergeWorkflow(repo, file))
}

// workflows are those of a fresh scan, as "repository path".
func (v *env) workflows() string {
	v.t.Helper()
	return ciNames(v.call(200, "GET", ciAutomation+"/scan?forceRefresh=true", nil).object(v.t)["workflows"], "repoFullName", "filePath")
}

// workflow is one of a fresh scan.
func (v *env) workflow(repo, file string) object {
	v.t.Helper()
	for _, w := range v.call(200, "GET", ciAutomation+"/scan?forceRefresh=true", nil).object(v.t)["workflows"].([]any) {
		if o := w.(object); o["repoFullName"] == repo && o["filePath"] == file {
			return o
		}
	}
	v.t.Fatalf("the scan does not find %s in %s", file, repo)
	return nil
}

// ciNames shows fields of each object of a list, sorted.
func ciNames(list any, fields ...string) string {
	var texts []string
	for _, entry := range list.([]any) {
		var parts []string
		for _, field := range fields {
			parts = append(parts, fmt.Sprint(entry.(object)[field]))
		}
		texts = append(texts, strings.Join(parts, " "))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

func TestCIRepositories(t *testing.T) {
	v := startParallel(t)
	list := func(query string) string {
		t.Helper()
		return ciNames(v.call(200, "GET", ciAutomation+"/repositories"+query, nil).object(t)["repositories"], "fullName")
	}
	const all = "acme/api, acme/legacy, acme/web, robin/tools"
	for query, want := range map[string]string{
		"": all, "?owner=acme": "acme/api, acme/legacy, acme/web", "?owner=ROBIN": "robin/tools", "?owner=acm": "", "?owner=nobody": "",
	} {
		same(t, query, list(query), want)
	}
	o := v.call(200, "GET", ciAutomation+"/repositories?owner=acme", nil).object(t)["repositories"].([]any)
	if got, want := fmt.Sprint(o[1]), fmt.Sprint(object{
		"fullName": "acme/legacy", "url": "https://code.example/acme/legacy", "isPrivate": true, "defaultBranch": "master", "userPermission": "read", "serviceAppWritable": false,
	}); got != want {
		t.Errorf("repository: %s, want %s", got, want)
	}

	check.Must(t, v.ConnectRepository(emulator.Repository{URL: "https://Code.example/Zed/New.git/", UserPermission: "write"}))
	o = v.call(200, "GET", ciAutomation+"/repositories?owner=zed", nil).object(t)["repositories"].([]any)
	if got, want := fmt.Sprint(o), fmt.Sprint([]any{object{
		"fullName": "Zed/New", "url": "https://code.example/Zed/New", "isPrivate": false, "defaultBranch": "main", "userPermission": "write", "serviceAppWritable": false,
	}}); got != want {
		t.Errorf("repositories: %s, want %s", got, want)
	}
}

func TestCIRepositoryOwners(t *testing.T) {
	v := startParallel(t)
	show := func() string {
		t.Helper()
		o := v.call(200, "GET", ciAutomation+"/repository-owners", nil).object(t)
		return fmt.Sprint(ciNames(o["owners"], "login", "type"), " ", o["integration"])
	}
	same(t, "owners", show(), "acme organization, robin user map[connected:true]")
	check.Must(t, v.DisconnectRepository("https://code.example/robin/tools"))
	same(t, "owners", show(), "acme organization map[connected:true]")
}

// A service account has no name of a person.
func TestCIAuthorThatIsAServiceAccount(t *testing.T) {
	v := startParallel(t)
	_, service := v.account("robots")
	v.as(service, 200, "POST", ciEdit, ciBody("create", ciTarget("robin/tools", "")))
	v.merge("robin/tools", reviewFile)
	same(t, "author", v.workflow("robin/tools", reviewFile)["authoredBy"], object{"login": "robots"})
}

func TestCIEditThatIsRefused(t *testing.T) {
	v := startParallel(t)
	file := func(path string) object { return ciBody("create", ciTarget("acme/api", path)) }
	for _, c := range []refusal{
		{ciBody("edit", ciTarget("acme/web", reviewFile)), `"changes" is required to edit`},
		{file("agent-review.yml"), "must be a file under .github/workflows/"},
		{file(".github/workflows/../a.yml"), "must be a file under"},
		{file(".github/workflows//a.yml"), "must be a file under"},
		{file(".github/workflows/v1..2.yml"), "must be a file under"},
		{file(".github/workflows/a\n.yml"), "must be a file under"},
		{file(".github/workflows/.yml"), "must have a name before .yml"},
		{file(".github/workflows/a.txt"), "must end in .yml or .yaml"},
		{file(".github/workflows/" + strings.Repeat("a", 1003) + ".yml"), "at most 1024 bytes, not 1025"},
		{ciBody("create", ciTarget("acme/api", ""), ciTarget("acme/web", ""), ciTarget("Acme/API", reviewFile)), "repeats the file of repos[0]"},
	} {
		v.detail(v.call(400, "POST", ciEdit, c.body), c.want)
	}
}

func TestCISchedules(t *testing.T) {
	v := startParallel(t)
	body := func(schedule string) object {
		return object{"action": "create", "repos": []object{ciTarget("acme/none", "")}, "changes": object{"schedule": schedule}}
	}
	for _, s := range []string{"", "* * * * *", "0  6 * * 1", "*/5 0-12/2 1,15 JAN-mar MON", "59 23 31 12 7", "30/10 09 01 01 SUN,sat", "*/99 * * * *", "0 0 * * 5-1"} {
		v.call(200, "POST", ciEdit, body(s))
	}
	for _, s := range []string{
		"* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "* * * * MONDAY", "1- * * * *", "*/0 * * * *", "*/100 * * * *", "1,,2 * * * *", "* * * * * ", "* * * * *\n",
	} {
		v.detail(v.call(400, "POST", ciEdit, body(s)), "cron expression of five fields")
	}
}

// Each repository has an outcome of its own, in the order of the request; the status is 200 even where none succeeds.
func TestCIEditOfSeveralRepositories(t *testing.T) {
	v := startParallel(t)
	check.Must(t, v.ConnectRepository(emulator.Repository{URL: "https://code.example/acme/locked"}))
	body := ciBody("create", ciTarget("acme/legacy", ""), ciTarget("robin/tools", ""), ciTarget("acme/none", ""), ciTarget("acme/web", ""),
		ciTarget("ACME/api", ""), ciTarget("acme/locked", ""))
	if got, want := v.outcomes(body), []string{
		"acme/legacy error: The permission read is not enough to change the repository acme/legacy.",
		"robin/tools prUrl: https://code.example/robin/tools/pull/1",
		"acme/none error: The code-host integration of the organization does not cover the repository acme/none.",
		"acme/web error: The repository acme/web has a workflow .github/workflows/agent-review.yml already.",
		"ACME/api prUrl: https://code.example/acme/api/pull/1",
		"acme/locked error: The service may not write to the repository acme/locked.",
	}; !slices.Equal(got, want) {
		t.Errorf("outcomes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	const other = ".github/workflows/other.yaml"
	for action, want := range map[string][]string{
		"edit": {
			"acme/web error: The action edit needs the filePath of the workflow.",
			"acme/web error: The repository acme/web has no workflow .github/workflows/other.yaml.",
			"acme/api error: The repository acme/api has no workflow .github/workflows/agent-review.yml.",
			"acme/web message: There is nothing to do: the workflow .github/workflows/agent-review.yml of acme/web is already as requested.",
		},
		"delete": {
			"acme/web error: The action delete needs the filePath of the workflow.",
			"acme/web message: There is nothing to do: the repository acme/web has no workflow .github/workflows/other.yaml.",
			"acme/api message: There is nothing to do: the repository acme/api has no workflow .github/workflows/agent-review.yml.",
			"acme/web prUrl: https://code.example/acme/web/pull/1",
		},
	} {
		body := ciBody(action, ciTarget("acme/web", ""), ciTarget("acme/web", other), ciTarget("acme/api", reviewFile), ciTarget("acme/web", reviewFile))
		body["changes"] = object{}
		same(t, action, v.outcomes(body), want)
	}
}

// The same request opens another pull request each time, and the job is the latest.
func TestCIEditIsNotIdempotent(t *testing.T) {
	v := startParallel(t)
	body := ciBody("create", ciTarget("acme/api", ""))
	v.opens(body, "https://code.example/acme/api/pull/1")
	v.clock.Advance(time.Second)
	v.opens(ciBody("delete", ciTarget("acme/web", reviewFile)), "https://code.example/acme/web/pull/1")
	v.opens(ciBody("create", ciTarget("acme/web", ".github/workflows/b.yml")), "https://code.example/acme/web/pull/2")
	v.clock.Advance(time.Second)
	v.opens(body, "https://code.example/acme/api/pull/2")

	pulls, err := v.CIPullRequests("Acme/API")
	if err != nil || !slices.Equal(pulls, []string{"https://code.example/acme/api/pull/1", "https://code.example/acme/api/pull/2"}) {
		t.Errorf("pull requests: %v %v", pulls, err)
	}
	now := v.clock.Now().UnixMilli()
	job := func(action, repo, file string, pull int, at int64) emulator.CIJob {
		return emulator.CIJob{
			ID: repo + "::" + file, Action: action, RepoFullName: repo, FilePath: file,
			PRURL: fmt.Sprintf("https://code.example/%s/pull/%d", repo, pull), Status: "ready", CreatedAt: at, UpdatedAt: at,
		}
	}
	want := []emulator.CIJob{
		job("create", "acme/api", reviewFile, 2, now),
		job("create", "acme/web", ".github/workflows/b.yml", 2, now-1000),
		job("delete", "acme/web", reviewFile, 1, now-1000),
	}
	same(t, "jobs", v.ciJobs(), want)
}

func (v *env) ciJobs() []emulator.CIJob {
	v.t.Helper()
	var list struct{ Jobs []emulator.CIJob }
	decode(v.t, v.call(200, "GET", ciAutomation+"/jobs", nil), &list)
	return list.Jobs
}

func TestCIFileNames(t *testing.T) {
	v := startParallel(t)
	for i, c := range []struct {
		body object
		want string
	}{
		{object{}, "agent-review.yml"},
		{object{"modeId": "custom", "automationName": " Nightly: QA & docs! "}, "agentyard-nightly-qa-docs.yml"},
		{object{"modeId": "custom", "automationName": "ignored", "changes": object{"name": "From changes"}}, "agentyard-from-changes.yml"},
		{object{"modeId": "custom", "automationName": "äöü"}, "agentyard-workflow.yml"},
		{object{"modeId": "custom", "automationName": strings.Repeat("a", 99) + " " + strings.Repeat("b", 40_000)}, "agentyard-" + strings.Repeat("a", 99) + ".yml"},
	} {
		c.body["action"], c.body["repos"] = "create", []object{ciTarget("acme/api", "")}
		v.opens(c.body, fmt.Sprintf("https://code.example/acme/api/pull/%d", i+1))
		v.clock.Advance(time.Second)
		jobs := v.ciJobs()
		if len(jobs) == 0 || jobs[0].FilePath != ".github/workflows/"+c.want {
			t.Errorf("%v: %v, want %s", c.body, jobs, c.want)
		}
	}
}

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
	check.Says(t, v.workflows(), custom)
	v.merge("acme/api", custom)
	same(t, "after the deletion", v.workflows(), "acme/web "+reviewFile)
	for _, again := range []string{custom, ".github/workflows/none.yml"} {
		check.Fails(t, v.MergeWorkflow("acme/api", again), "no open pull request")
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
	expect := func(query string, after time.Duration, workflows int) {
		t.Helper()
		o := v.as(user, 200, "GET", ciAutomation+"/scan"+query, nil).object(t)
		if got := len(o["workflows"].([]any)); got != workflows || o["scannedAt"] != float64(began.Add(after).UnixMilli()) || o["cacheTtlMs"] != 1_800_000.0 {
			t.Errorf("%d workflows at %v for %v ms, want %d at %d", got, o["scannedAt"], o["cacheTtlMs"], workflows, began.Add(after).UnixMilli())
		}
	}
	expect("", 0, 1)
	v.opens(ciBody("create", ciTarget("acme/api", "")), "https://code.example/acme/api/pull/1")
	v.merge("acme/api", reviewFile)
	v.clock.Advance(30*time.Minute - time.Millisecond)
	expect("", 0, 1)
	expect("?forceRefresh=false", 0, 1)
	v.clock.Advance(time.Millisecond)
	expect("", 30*time.Minute, 2)
	v.clock.Advance(time.Minute)
	expect("?forceRefresh=true", 31*time.Minute, 2)
}

// A repository that is disconnected has no workflows, and has them again when it is back.
func TestCIScanOfConnectedRepositories(t *testing.T) {
	v := startParallel(t)
	check.Must(t, v.DisconnectRepository("https://code.example/acme/web"))
	same(t, "workflows", v.workflows(), "")
	check.Must(t, v.ConnectRepository(emulator.Repository{URL: "https://code.example/acme/web", DefaultBranch: "trunk", UserPermission: "read"}))
	w := v.workflow("acme/web", reviewFile)
	fields(t, "workflow", w, object{"userPermission": "read", "githubUrl": "https://code.example/acme/web/blob/trunk/" + reviewFile})
}

func TestCIRuns(t *testing.T) {
	v := startParallel(t)
	show := func() string {
		t.Helper()
		return string(v.call(200, "GET", ciAutomation+"/runs", nil).raw)
	}
	same(t, "runs", show(), `{"integration":{"connected":true},"runs":[]}`)
	check.Must(t, v.AddCIRun(map[string]any{"id": 7, "status": "queued", "conclusion": nil}))
	v.call(204, "POST", "/_emulator/ci/runs", object{"repoFullName": "acme/web", "steps": []any{object{"name": "review"}}})
	same(t, "runs", show(), `{"integration":{"connected":true},"runs":[{"repoFullName":"acme/web","steps":[{"name":"review"}]},{"conclusion":null,"id":7,"status":"queued"}]}`)
	v.detail(v.call(400, "POST", "/_emulator/ci/runs", "null"), "must be an object")
}

// Without the integration nothing is listed and nothing is edited; what was there comes back with it.
func TestCIWithoutTheIntegration(t *testing.T) {
	v := startParallel(t)
	v.opens(ciBody("create", ciTarget("acme/api", "")), "https://code.example/acme/api/pull/1")
	check.Must(t, v.AddCIRun(map[string]any{"status": "queued"}))
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

func TestConnectRepositoryRefuses(t *testing.T) {
	v := startParallel(t)
	for _, c := range []struct {
		given emulator.Repository
		want  string
	}{
		{emulator.Repository{URL: "http://code.example/acme/new"}, "must have the form https://host/owner/name"},
		{emulator.Repository{URL: "https://code.example/acme/new/deep"}, "must have the form https://host/owner/name"},
		{emulator.Repository{URL: "https://robin@code.example/acme/new"}, "must have the form https://host/owner/name"},
		{emulator.Repository{URL: "https://code.example/acme/new?x=1"}, "must have the form https://host/owner/name"},
		{emulator.Repository{URL: "https://code.example/acme/new", UserPermission: "king"}, `"king" is not admin, write, or read`},
		{emulator.Repository{URL: "https://other.example/Acme/API"}, "repository https://code.example/acme/api is already connected"},
	} {
		check.Fails(t, v.ConnectRepository(c.given), c.want)
	}
}

// One repository has many addresses; whichever is used, it is there once.
func TestRepositoryAddresses(t *testing.T) {
	v := startParallel(t)
	for _, address := range []string{
		"https://code.example/acme/new", "https://code.example/acme/new/", "https://code.example/acme/new.git",
		"https://code.example/acme/new.git/", "https://CODE.example/Acme/NEW.GIT",
	} {
		check.Must(t, v.ConnectRepository(emulator.Repository{URL: "https://Code.example/acme/new"}))
		check.Must(t, v.DisconnectRepository(address))
		check.Fails(t, v.DisconnectRepository(address), "is not connected")
	}
	check.Fails(t, v.DisconnectRepository("https://other.example/acme/api"), "is not connected")
}
