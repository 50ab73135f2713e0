package ci_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// review is the workflow in acme/web that every emulator starts with.
const review = ".github/workflows/agent-review.yml"

// source is a CI data source, the operation that it reads, and its list.
type source struct{ name, operation, list string }

var sources = []source{
	{"jobs", "listCiJobs", "jobs"},
	{"repositories", "listCiRepositories", "repositories"},
	{"repository_owners", "listCiRepositoryOwners", "owners"},
	{"runs", "listCiRuns", "runs"},
	{"scan", "scanCiWorkflows", "workflows"},
}

func forEach(t *testing.T, test func(t *testing.T, s source)) {
	t.Helper()
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// data returns the data source with some arguments.
func (s source) data(arguments string) string {
	return fmt.Sprintf("data \"agentyard_ci_%s\" \"x\" {\n  %s\n}\n", s.name, arguments)
}

func (s source) is(attribute string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue("data.agentyard_ci_"+s.name+".x", tfjsonpath.New(attribute), check)
}

// object checks for exactly these fields. Nil is null.
func object(fields map[string]any) knownvalue.Check {
	checks := map[string]knownvalue.Check{}
	for name, v := range fields {
		checks[name] = exactly(v)
	}
	return knownvalue.ObjectExact(checks)
}

func objects(all ...map[string]any) knownvalue.Check {
	checks := make([]knownvalue.Check, len(all))
	for i, fields := range all {
		if _, isRun := fields["raw"]; !isRun {
			fields["raw_json"] = knownvalue.NotNull()
		}
		checks[i] = object(fields)
	}
	return knownvalue.ListExact(checks)
}

func exactly(v any) knownvalue.Check {
	switch v := v.(type) {
	case knownvalue.Check:
		return v
	case string:
		return knownvalue.StringExact(v)
	case bool:
		return knownvalue.Bool(v)
	case int:
		return knownvalue.Int64Exact(int64(v))
	case map[string]any:
		return object(v)
	case []any:
		checks := make([]knownvalue.Check, len(v))
		for i, item := range v {
			checks[i] = exactly(item)
		}
		return knownvalue.ListExact(checks)
	}
	return knownvalue.Null()
}

var (
	connected    = object(map[string]any{"connected": true})
	disconnected = object(map[string]any{"connected": false})
)

// edit opens pull requests outside Terraform.
func edit(e *acctest.Env, body string) {
	e.API(http.MethodPost, "/api/v0/automations/ci/edit", json.RawMessage(body), nil)
}

func TestAccCIJobs_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	jobs := sources[0]
	edit(e, `{"action":"create","repos":[{"repoFullName":"acme/api"}]}`)
	e.Clock.Advance(time.Minute)
	edit(e, `{"action":"delete","repos":[{"repoFullName":"acme/web","filePath":"`+review+`"}]}`)
	job := func(action, repo, at string) map[string]any {
		return map[string]any{
			"id": repo + "::" + review, "action": action, "repo_full_name": repo, "file_path": review, "pr_url": "https://code.example/" + repo + "/pull/1", "status": "ready", "error": nil, "created_at": at, "updated_at": at,
		}
	}
	newer, older := job("delete", "acme/web", "2026-03-01T12:01:00Z"), job("create", "acme/api", "2026-03-01T12:00:00Z")
	merged := job("create", "acme/api", "2026-03-01T12:00:00Z")
	merged["updated_at"] = "2026-03-01T12:02:00Z"
	after := e.ReadStep(jobs.data(""), jobs.is("jobs", objects(newer, merged)))
	after.PreConfig = func() {
		e.Clock.Advance(time.Minute)
		if err := e.MergeWorkflow("acme/api", review); err != nil {
			t.Error(err)
		}
	}
	e.Run(t, e.ReadStep(jobs.data(""), jobs.is("jobs", objects(newer, older))), after)
}

func TestAccCIRepositories_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	repositories := sources[1]
	repository := func(name, branch string, isPrivate bool, permission string, writable bool) map[string]any {
		return map[string]any{"full_name": name, "url": "https://code.example/" + name, "is_private": isPrivate, "default_branch": branch, "user_permission": permission, "service_app_writable": writable}
	}
	acme := []map[string]any{
		repository("acme/api", "main", true, "admin", true), repository("acme/legacy", "master", true, "read", false), repository("acme/web", "main", false, "write", true),
	}
	tools := repository("robin/tools", "main", false, "admin", true)
	e.Run(t,
		e.FailingStep(repositories.data(`owner = ""`), `owner\s+must\s+not\s+be\s+blank.\s+Leave\s+it\s+out`),
		e.FailingStep(repositories.data(`owner = " "`), `owner\s+must\s+not\s+be\s+blank`),
		e.ReadStep(repositories.data(""), repositories.is("repositories", objects(append(acme, tools)...)), repositories.is("owner", knownvalue.Null())),
		e.ReadStep(repositories.data(`owner = "ACME"`), repositories.is("repositories", objects(acme...)), repositories.is("owner", knownvalue.StringExact("ACME"))),
		e.ReadStep(repositories.data(`owner = "nobody/.. ?&owner=acme"`), repositories.is("repositories", objects())),
	)
}

func TestAccCIRepositoryOwners_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	owners := sources[2]
	e.Run(t, e.ReadStep(owners.data(""),
		owners.is("owners", objects(map[string]any{"login": "acme", "type": "organization"}, map[string]any{"login": "robin", "type": "user"})),
		owners.is("integration", connected)))
}

func TestAccCIRuns_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	runs := sources[3]
	for _, run := range []map[string]any{
		{"id": 7, "status": "queued", "conclusion": nil, "z": 1.5, "a": []any{"<b>"}},
		{"id": "r2", "repoFullName": "acme/api", "status": "not known yet", "conclusion": "success"},
		{"other": true},
	} {
		acctest.Must(t, e.AddCIRun(run))
	}
	e.Run(t, e.ReadStep(runs.data(""), runs.is("integration", connected), runs.is("runs", objects(
		map[string]any{"id": nil, "repo_full_name": nil, "status": nil, "conclusion": nil, "raw": `{"other":true}`},
		map[string]any{"id": "r2", "repo_full_name": "acme/api", "status": "not known yet", "conclusion": "success", "raw": `{"conclusion":"success","id":"r2","repoFullName":"acme/api","status":"not known yet"}`},
		map[string]any{"id": "7", "repo_full_name": nil, "status": "queued", "conclusion": nil, "raw": `{"a":["<b>"],"conclusion":null,"id":7,"status":"queued","z":1.5}`},
	))))
}

func TestAccCIScan_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	scan := sources[4]
	hash := knownvalue.StringRegexp(regexp.MustCompile(`^[0-9a-f]{40}$`))
	first := map[string]any{
		"repo_full_name": "acme/web", "file_path": review, "workflow_name": "Agent review", "trigger_events": []any{"pull_request", "workflow_dispatch"}, "schedule_cron": nil, "template_id": "code-review",
		"agent_action_inputs": `{"actionRef":"v1","automaticReview":"true","reviewDepth":"deep"}`, "github_url": "https://code.example/acme/web/blob/main/" + review, "file_sha": hash,
		"authored_by": map[string]any{"login": "robin", "name": "Robin Reviewer"}, "user_permission": "write",
	}
	second := map[string]any{
		"repo_full_name": "acme/api", "file_path": ".github/workflows/agentyard-nightly.yml", "workflow_name": "Nightly", "trigger_events": []any{"push", "schedule", "workflow_dispatch"}, "schedule_cron": "0 2 * * *",
		"template_id": nil, "agent_action_inputs": `{"actionRef":"v1","model":"big"}`, "github_url": "https://code.example/acme/api/blob/main/.github/workflows/agentyard-nightly.yml", "file_sha": hash,
		"authored_by": map[string]any{"login": "manager", "name": "Avery Manager"}, "user_permission": "admin",
	}
	at := func(when string) []statecheck.StateCheck {
		return []statecheck.StateCheck{scan.is("scanned_at", knownvalue.StringExact(when)), scan.is("cache_ttl_ms", knownvalue.Int64Exact(1800000)), scan.is("integration", connected)}
	}
	cached := e.ReadStep(scan.data("force_refresh = false"), append(at("2026-03-01T12:00:00Z"), scan.is("workflows", objects(first)))...)
	cached.PreConfig = func() {
		edit(e, `{"action":"create","modeId":"custom","changes":{"name":"Nightly","schedule":"0 2 * * *","githubEvents":["push"],"customCIModel":"big"},"repos":[{"repoFullName":"acme/api"}]}`)
		if err := e.MergeWorkflow("acme/api", ".github/workflows/agentyard-nightly.yml"); err != nil {
			t.Error(err)
		}
		e.Clock.Advance(time.Minute)
	}
	e.Run(t,
		e.ReadStep(scan.data(""), append(at("2026-03-01T12:00:00Z"), scan.is("workflows", objects(first)), scan.is("force_refresh", knownvalue.Null()))...),
		cached,
		e.ReadStep(scan.data("force_refresh = true"), append(at("2026-03-01T12:01:00Z"), scan.is("workflows", objects(second, first)))...),
	)
}

// Without a code host, the lists are empty, which is not an error.
func TestAccCI_withoutIntegration(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		e.ConnectIntegration(false)
		checks := []statecheck.StateCheck{s.is(s.list, objects())}
		if s.name != "jobs" && s.name != "repositories" {
			checks = append(checks, s.is("integration", disconnected))
		}
		e.Run(t, e.ReadStep(s.data(""), checks...))
	})
}

// length returns the length of a data source's list, which must be readable.
func (s source) length(t *testing.T, e *acctest.Env) (int, map[string]tftypes.Value) {
	t.Helper()
	read, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_ci_"+s.name, nil)
	out.MustSucceed(t)
	var items []tftypes.Value
	acctest.Must(t, read[s.list].As(&items))
	return len(items), read
}

func (s source) mustFail(t *testing.T, e *acctest.Env, settings acctest.Values, at string, want ...string) {
	t.Helper()
	_, out := acctest.NewProcess(t, e, settings).ReadData("agentyard_ci_"+s.name, nil)
	out.MustFail(t, at, want...)
}

func TestCI_failures(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		for status, remedy := range map[int]string{400: "Correct the value", 401: "AGENTYARD_API_KEY", 403: "forbid CI automation", 404: "path in base_url", 500: "The service failed.", 501: "does not offer"} {
			e.Faults().Clear()
			e.Faults().Add(emulator.Fault{Operation: s.operation, Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: -1})
			at := ""
			if status == http.StatusBadRequest && s.name == "repositories" {
				at = "owner"
			}
			s.mustFail(t, e, nil, at, "Cannot ", " CI", s.operation, fmt.Sprint("returned ", status), remedy)
		}
		for _, kind := range []emulator.FaultKind{emulator.FaultRateLimited, emulator.FaultDropBeforeCommit, emulator.FaultTruncatedBody, emulator.FaultNonJSON} {
			e.Faults().Clear()
			e.Faults().Add(emulator.Fault{Operation: s.operation, Kind: kind})
			s.length(t, e)
		}
	})
}

func TestCI_unknownSettings(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		s.mustFail(t, acctest.New(t), acctest.Values{"base_url": tftypes.UnknownValue}, "", "base_url is not known yet", "terraform apply -target=ADDRESS", "undo that change first")
	})
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
	acctest.Says(t, acctest.OneLine(cli.MustRun("plan", "-input=false").Output), `not_writable = [ + "acme/web", ]`)
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
