package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
	must(v.t, v.MergeWorkflow(repo, file))
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

	must(t, v.ConnectRepository(emulator.Repository{URL: "https://Code.example/Zed/New.git/", UserPermission: "write"}))
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
	must(t, v.DisconnectRepository("https://code.example/robin/tools"))
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
	must(t, v.ConnectRepository(emulator.Repository{URL: "https://code.example/acme/locked"}))
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
