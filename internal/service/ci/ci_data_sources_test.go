package ci_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// review is the workflow in acme/web that every emulator starts with.
const review = ".github/workflows/agent-review.yml"

// lists are the CI data sources with their lists.
var lists = map[string]string{"jobs": "jobs", "repositories": "repositories", "repository_owners": "owners", "runs": "runs", "scan": "workflows"}

// mustRead reads a data source, which must have these attributes. Each row has more JSON, unless it names its own.
func mustRead(t *testing.T, e *acctest.Env, name string, config acctest.Values, want map[string]any) {
	t.Helper()
	got := e.MustRead(t, nil, "agentyard_ci_"+name, config)
	for _, row := range got[lists[name]].([]any) {
		row := row.(map[string]any)
		if raw, ok := row["raw_json"]; ok && raw == nil {
			t.Errorf("%s: a row without raw_json: %v", name, row)
		}
		delete(row, "raw_json")
	}
	acctest.MustHave(t, got, want)
}

// edit opens pull requests outside Terraform.
func edit(e *acctest.Env, body string) {
	e.API(http.MethodPost, "/api/v0/automations/ci/edit", json.RawMessage(body), nil)
}

// A read in the same run as an edit has the edit's job.
func TestCIJobs_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	job := func(action, repo, at string) map[string]any {
		return map[string]any{
			"id": repo + "::" + review, "action": action, "repo_full_name": repo, "file_path": review, "pr_url": "https://code.example/" + repo + "/pull/1", "status": "ready", "error": nil, "created_at": at, "updated_at": at,
		}
	}
	edit(e, `{"action":"create","repos":[{"repoFullName":"acme/api"}]}`)
	older := job("create", "acme/api", "2026-03-01T12:00:00Z")
	mustRead(t, e, "jobs", nil, map[string]any{"jobs": []any{older}})
	e.Clock.Advance(time.Minute)
	p := acctest.NewProcess(t, e, nil)
	_, out := p.ReadData("agentyard_ci_jobs", nil)
	out.MustSucceed(t)
	_, out = p.Invoke(typeName, acctest.Values{"action": "delete", "repos": []any{repo("acme/web", review)}})
	out.MustSucceed(t)
	after, out := p.ReadData("agentyard_ci_jobs", nil)
	out.MustSucceed(t)
	check.Is(t, "jobs are read after the edit", len(acctest.Plainly(t, after)["jobs"].([]any)), 2)
	e.Clock.Advance(time.Minute)
	check.Must(t, e.MergeWorkflow("acme/api", review))
	older["updated_at"] = "2026-03-01T12:02:00Z"
	mustRead(t, e, "jobs", nil, map[string]any{"jobs": []any{job("delete", "acme/web", "2026-03-01T12:01:00Z"), older}})
}

func TestCIRepositories_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	repository := func(name, branch string, isPrivate bool, permission string, writable bool) any {
		return map[string]any{"full_name": name, "url": "https://code.example/" + name, "is_private": isPrivate, "default_branch": branch, "user_permission": permission, "service_app_writable": writable}
	}
	acme := []any{
		repository("acme/api", "main", true, "admin", true), repository("acme/legacy", "master", true, "read", false), repository("acme/web", "main", false, "write", true),
	}
	tools := repository("robin/tools", "main", false, "admin", true)
	mustRead(t, e, "repositories", nil, map[string]any{"repositories": append(acme, tools), "owner": nil})
	mustRead(t, e, "repositories", acctest.Values{"owner": "ACME"}, map[string]any{"repositories": acme, "owner": "ACME"})
	mustRead(t, e, "repositories", acctest.Values{"owner": "nobody/.. ?&owner=acme"}, map[string]any{"repositories": []any{}})
	e.MustNotRead(t, nil, "agentyard_ci_repositories", acctest.Values{"owner": " "}, "owner", "owner must not be blank. Leave it out")
	e.Faults().Add(emulator.Fault{Operation: "listCiRepositories", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusBadRequest})
	e.MustNotRead(t, nil, "agentyard_ci_repositories", nil, "owner", "Cannot list CI repositories", "400")
}

func TestCIRuns_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for _, run := range []map[string]any{
		{"id": 7, "status": "queued", "conclusion": nil, "z": 1.5, "a": []any{"<b>"}},
		{"id": "r2", "repoFullName": "acme/api", "status": "not known yet", "conclusion": "success"},
	} {
		check.Must(t, e.AddCIRun(run))
	}
	mustRead(t, e, "runs", nil, map[string]any{"integration": map[string]any{"connected": true}, "runs": []any{
		map[string]any{"id": "r2", "repo_full_name": "acme/api", "status": "not known yet", "conclusion": "success", "raw": `{"conclusion":"success","id":"r2","repoFullName":"acme/api","status":"not known yet"}`},
		map[string]any{"id": "7", "repo_full_name": nil, "status": "queued", "conclusion": nil, "raw": `{"a":["<b>"],"conclusion":null,"id":7,"status":"queued","z":1.5}`},
	}})
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

func TestCIScan_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	first := map[string]any{
		"repo_full_name": "acme/web", "file_path": review, "workflow_name": "Agent review", "trigger_events": []any{"pull_request", "workflow_dispatch"}, "schedule_cron": nil, "template_id": "code-review",
		"agent_action_inputs": `{"actionRef":"v1","automaticReview":"true","reviewDepth":"deep"}`, "github_url": "https://code.example/acme/web/blob/main/" + review,
		"authored_by": map[string]any{"login": "robin", "name": "Robin Reviewer"}, "user_permission": "write",
	}
	is := func(config acctest.Values, at string, workflows int) {
		t.Helper()
		got := e.MustRead(t, nil, "agentyard_ci_scan", config)
		acctest.MustHave(t, got, map[string]any{"scanned_at": at, "cache_ttl_ms": 1800000.0, "integration": map[string]any{"connected": true}})
		found := got["workflows"].([]any)
		last := found[len(found)-1].(map[string]any)
		if acctest.MustHave(t, last, first); len(found) != workflows || !commit.MatchString(fmt.Sprint(last["file_sha"])) {
			t.Errorf("%d workflows: %v", len(found), found)
		}
	}
	is(nil, "2026-03-01T12:00:00Z", 1)
	edit(e, `{"action":"create","modeId":"custom","changes":{"name":"Nightly","schedule":"0 2 * * *"},"repos":[{"repoFullName":"acme/api"}]}`)
	check.Must(t, e.MergeWorkflow("acme/api", ".github/workflows/agentyard-nightly.yml"))
	e.Clock.Advance(time.Minute)
	is(acctest.Values{"force_refresh": false}, "2026-03-01T12:00:00Z", 1)
	is(acctest.Values{"force_refresh": true}, "2026-03-01T12:01:00Z", 2)
}

// Without a code host, the lists are empty, which is not an error. A refusal names the setting.
func TestCI_withoutIntegration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.ConnectIntegration(false)
	for name, list := range lists {
		want := map[string]any{list: []any{}}
		if name != "jobs" && name != "repositories" {
			want["integration"] = map[string]any{"connected": false}
		}
		mustRead(t, e, name, nil, want)
	}
	e.Faults().Add(emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusForbidden, Times: -1})
	for name := range lists {
		e.MustNotRead(t, nil, "agentyard_ci_"+name, nil, "", "Cannot ", " CI", "forbid CI automation")
	}
}

// The repository examples work even if the service does not return whether its app can write to a repository.
func TestAccCIRepositories_examplesWithoutWhatIsNotTold(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{
		Operation: "listCiRepositories", Kind: emulator.FaultOtherResponse, Times: -1,
		Body: `{"repositories":[{"fullName":"acme/api","url":"https://code.example/acme/api","userPermission":"admin","serviceAppWritable":true},{"fullName":"acme/web","url":"https://code.example/acme/web"},` +
			`{"fullName":"acme/legacy","url":"https://code.example/acme/legacy","serviceAppWritable":true}]}`,
	})
	cli := acctest.NewCLI(t, e, acctest.Example(t, "data-sources/agentyard_ci_repositories/data-source.tf"))
	check.Says(t, acctest.OneLine(cli.MustRun("plan", "-input=false").Output), `not_writable = [ + "acme/web", ]`)
	cli.Write("main.tf", acctest.Example(t, "guides/wikis-from-pipelines/every.tf"))
	if shown := cli.MustRun("plan", "-input=false").Output; strings.Count(shown, "will be created") != 2 || strings.Contains(shown, "acme/web") {
		t.Error(shown)
	}
	t.Run("action", func(t *testing.T) {
		acctest.NeedsActions(t)
		cli.Write("main.tf", acctest.Example(t, "actions/agentyard_ci_workflow_edit/action.tf"))
		if shown := cli.MustRun("apply", "-invoke=action.agentyard_ci_workflow_edit.security", "-auto-approve", "-input=false").Output; strings.Count(shown, "pull request https") != 1 || pulls(t, e) != 1 {
			t.Error(shown)
		}
	})
}
