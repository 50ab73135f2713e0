package wiki_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const runAddress = wikiRunType + ".test"

func hclOf(lines ...string) string {
	return fmt.Sprintf("resource %q \"test\" {\n  %s\n}\n", wikiRunType, strings.Join(lines, "\n  "))
}

// ofAPI returns a configuration of a run of acme/api, with additional lines.
func ofAPI(lines ...string) string {
	return hclOf(append([]string{fmt.Sprintf("repo_url = %q", acmeAPI)}, lines...)...)
}

func quoted(name, text string) string {
	return name + " = " + strings.ReplaceAll(fmt.Sprintf("%q", text), "${", "$${")
}

// runJSON contains the fields of a run that these tests check.
type runJSON struct {
	ID                  string `json:"wikiRunId"`
	RepoURL             string
	CommitHash          string
	Branch              string
	HasLocalChanges     bool
	HasNonRemoteCommits bool
	PageCount           int
	PageTree            json.RawMessage
	PrivacyLevel        string
}

func onlyRun(t testing.TB, e *acctest.Env) runJSON {
	t.Helper()
	all := wikiRunsOf(t, e)
	if len(all) != 1 {
		t.Fatalf("the emulator holds %+v", all)
	}
	var run runJSON
	e.API(http.MethodGet, "/api/v0/wiki/"+all[0].ID, nil, &run)
	return run
}

func addRun(t testing.TB, e *acctest.Env, given emulator.WikiRun) string {
	t.Helper()
	id, err := e.AddWikiRun(given)
	acctest.Must(t, err)
	return id
}

func noRunLeft(t testing.TB, e *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if left := wikiRunsOf(t, e); len(left) > 0 {
			return fmt.Errorf("the emulator still holds %+v", left)
		}
		return nil
	}
}

func runAction(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return acctest.PlannedThenEmpty(runAddress, action)
}

func runHas(name string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(runAddress, tfjsonpath.New(name), check)
}

func runSteps(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, CheckDestroy: noRunLeft(t, e), Steps: steps})
}

// switchWikis sets the organization's wiki setting.
func switchWikis(t testing.TB, e *acctest.Env, on string) {
	t.Helper()
	acctest.Must(t, e.ChangeEnterpriseControls(map[string]json.RawMessage{"wikiCloudSync": json.RawMessage(on)}, ""))
}

func text(s string) knownvalue.Check { return knownvalue.StringExact(s) }

var null = knownvalue.Null()

func TestAccWikiRun_leastThenEachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var id, head string
	step := func(action plancheck.ResourceActionType, want func(run runJSON) bool, lines ...string) resource.TestStep {
		return resource.TestStep{
			Config: e.Config(ofAPI(lines...)), ConfigPlanChecks: runAction(action),
			Check: func(*terraform.State) error {
				got := onlyRun(t, e)
				if isNew := got.ID != id; isNew != (action == plancheck.ResourceActionReplace || action == plancheck.ResourceActionCreate) {
					return fmt.Errorf("the run is %s, was %s", got.ID, id)
				}
				if id == "" {
					head = got.CommitHash
				}
				if id = got.ID; !want(got) {
					return fmt.Errorf("the emulator holds %+v", got)
				}
				return nil
			},
		}
	}
	const create, update, replace, noop = plancheck.ResourceActionCreate, plancheck.ResourceActionUpdate, plancheck.ResourceActionReplace, plancheck.ResourceActionNoop
	is := func(check func(run runJSON) bool) func(runJSON) bool { return check }
	private := is(func(r runJSON) bool { return r.PrivacyLevel == "private" })
	shared := is(func(r runJSON) bool { return r.PrivacyLevel == "organization" })
	const commit = "C0FFEE0123456789c0ffee0123456789c0ffee01"
	runSteps(t, e,
		step(create, is(func(r runJSON) bool {
			return r.Branch == "main" && len(r.CommitHash) == 40 && r.PrivacyLevel == "organization" && r.PageCount >= 5 && !r.HasLocalChanges && !r.HasNonRemoteCommits
		})),
		step(update, private, `privacy_level = "private"`),
		step(noop, private), // When the level is removed from the configuration, it is kept.
		step(update, shared, `privacy_level = "organization"`),
		step(noop, shared, `branch = "main"`, `has_local_changes = false`, `has_non_remote_commits = false`),
		step(replace, is(func(r runJSON) bool { return r.Branch == "next" && r.CommitHash != head }), `branch = "next"`),
		step(noop, is(func(r runJSON) bool { return r.Branch == "next" })),
		step(replace, is(func(r runJSON) bool { return r.CommitHash == commit && r.Branch == "main" }), quoted("commit_hash", commit), `branch = "main"`),
		// A short hash, or one in a different case, is the same commit.
		step(noop, is(func(r runJSON) bool { return r.CommitHash == commit }), quoted("commit_hash", strings.ToLower(commit))),
		step(noop, is(func(r runJSON) bool { return r.CommitHash == commit }), quoted("commit_hash", commit[:7])),
		step(replace, is(func(r runJSON) bool { return r.CommitHash == "facade0" }), `commit_hash = "facade0"`),
		step(replace, is(func(r runJSON) bool { return r.HasLocalChanges && !r.HasNonRemoteCommits }), `has_local_changes = true`),
		step(replace, is(func(r runJSON) bool { return r.HasLocalChanges && r.HasNonRemoteCommits }), `has_local_changes = true`, `has_non_remote_commits = true`),
		step(replace, is(func(r runJSON) bool { return !r.HasLocalChanges }), `has_local_changes = false`),
		step(replace, shared, `triggers = { release = "1" }`),
		step(replace, shared, `triggers = { release = "2" }`),
		step(replace, shared, `triggers = {}`),
		step(update, shared), // No triggers equal empty triggers.
		step(update, shared, `triggers = {}`),
		step(update, shared),
		step(replace, is(func(r runJSON) bool { return r.PageCount == 2 }), quoted("pages", pagesJSON)),
		step(noop, is(func(r runJSON) bool { return r.PageCount == 2 }), quoted("pages", strings.ReplaceAll(pagesJSON, ",", " , "))),
		step(replace, is(func(r runJSON) bool { return strings.Count(string(r.PageTree), `"children":[]`) == 1 }), quoted("pages", pagesJSON), quoted("page_tree", treeJSON)),
		step(replace, is(func(r runJSON) bool { return r.PageCount == 2 }), quoted("pages", pagesJSON)),
		step(replace, is(func(r runJSON) bool { return r.PageCount >= 5 })),
		resource.TestStep{ResourceName: runAddress, ImportState: true, ImportStateVerify: true},
	)
}

func TestAccWikiRun_withEverything(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	runSteps(t, e,
		resource.TestStep{
			Config: e.Config(hclOf(
				`repo_url = "https://CODE.example/acme/API.git/"`, `branch = "feature/ünï #1"`, `commit_hash = "c0ffee0"`, `has_local_changes = true`, `has_non_remote_commits = true`,
				quoted("pages", pagesJSON), quoted("page_tree", treeJSON), `privacy_level = "private"`, `triggers = { a = "b" }`,
			)),
			ConfigPlanChecks: runAction(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{
				runHas("id", knownvalue.StringRegexp(regexp.MustCompile(`^wiki_`))), runHas("repo_url", text("https://CODE.example/acme/API.git/")), runHas("branch", text("feature/ünï #1")),
				runHas("commit_hash", text("c0ffee0")), runHas("has_local_changes", knownvalue.Bool(true)), runHas("has_non_remote_commits", knownvalue.Bool(true)), runHas("page_count", knownvalue.Int64Exact(2)),
				runHas("page_tree", text(treeJSON)), runHas("pages", text(pagesJSON)), runHas("privacy_level", text("private")), runHas("can_update_privacy", knownvalue.Bool(true)),
				runHas("is_repo_covered_by_org_integration", knownvalue.Bool(true)), runHas("created_at", text("2026-03-01T12:00:00Z")), runHas("owner_user_id", knownvalue.NotNull()),
				runHas("model_used", null), runHas("agent_version", null), runHas("source_session_id", null), runHas("triggers", knownvalue.MapExact(map[string]knownvalue.Check{"a": text("b")})),
			},
			Check: func(*terraform.State) error {
				if run := onlyRun(t, e); run.RepoURL != acmeAPI || run.PrivacyLevel != "private" || run.Branch != "feature/ünï #1" {
					return fmt.Errorf("the emulator holds %+v", run)
				}
				return nil
			},
		},
		// An import uses the service's spelling.
		resource.TestStep{ResourceName: runAddress, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"repo_url", "pages", "page_tree", "triggers"}},
	)
}

func TestAccWikiRun_writtenByTheService(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	runSteps(t, e,
		resource.TestStep{
			Config: e.Config(ofAPI()), ConfigPlanChecks: runAction(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{
				runHas("model_used", knownvalue.ObjectExact(map[string]knownvalue.Check{"id": text("model-a"), "reasoning_effort": text("medium")})), runHas("agent_version", text("1.4.0")),
				runHas("page_tree", null), runHas("pages", null), runHas("triggers", null),
			},
		},
		// Other forms of the URL are the same repository, and the first configured form is kept.
		resource.TestStep{Config: e.Config(hclOf(`repo_url = "` + acmeAPI + `.git"`)), ConfigPlanChecks: runAction(plancheck.ResourceActionNoop), ConfigStateChecks: []statecheck.StateCheck{runHas("repo_url", text(acmeAPI))}},
		resource.TestStep{Config: e.Config(hclOf(`repo_url = "` + strings.ToUpper(acmeAPI) + `/"`)), ConfigPlanChecks: runAction(plancheck.ResourceActionNoop)},
		resource.TestStep{Config: e.Config(hclOf(`repo_url = "` + acmeWeb + `"`)), ConfigPlanChecks: runAction(plancheck.ResourceActionReplace), ConfigStateChecks: []statecheck.StateCheck{runHas("repo_url", text(acmeWeb))}},
	)
}

// A private run needs two requests. A run with the service's default level needs one.
func TestAccWikiRun_privacyIsSentOnlyWhereItDiffers(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]int{"organization": 0, "private": 1} {
		e := acctest.New(t)
		runSteps(t, e, resource.TestStep{Config: e.Config(ofAPI(quoted("privacy_level", level))), ConfigPlanChecks: acctest.ThenEmpty})
		if n := e.Journal().Count("updateWikiPrivacy"); n != want {
			t.Errorf("%s: %d changes were sent", level, n)
		}
	}
}

// What the service does not return is adopted after an import, and forces replacement at any other time.
func TestWikiRun_adoptsAfterAnImport(t *testing.T) {
	t.Parallel()
	whole := acctest.Values{"pages": pagesJSON, "page_tree": treeJSON, "triggers": map[string]any{"a": "b"}}
	upload := map[string]any{"repoUrl": acmeAPI, "pages": json.RawMessage(pagesJSON), "pageTree": json.RawMessage(treeJSON)}
	imported := func(t *testing.T) (*acctest.Env, *acctest.Process, *acctest.Instance) {
		e := acctest.New(t)
		var made runJSON
		e.API(http.MethodPost, "/api/v0/wiki", upload, &made)
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(wikiRunType)
		p.Import(i, made.ID).MustSucceed(t)
		return e, p, i
	}
	e, p, i := imported(t)
	e.Journal().Reset()
	for _, want := range []acctest.Action{acctest.ActionUpdate, acctest.ActionNone} {
		p.Apply(i, wikiRunOf(whole)).MustDo(t, want)
	}
	for name, tc := range map[string]struct {
		config acctest.Values
		want   acctest.Action
	}{
		"the JSON with blanks": {acctest.Values{"pages": " " + pagesJSON, "page_tree": " " + treeJSON, "triggers": whole["triggers"]}, "none"},
		"another tree":         {acctest.Values{"pages": pagesJSON, "triggers": whole["triggers"], "page_tree": `[{"title":"Index","path":"index.md"}]`}, "replace"},
		"other triggers":       {acctest.Values{"pages": pagesJSON, "page_tree": treeJSON, "triggers": map[string]any{"a": "c"}}, "replace"},
		"no pages":             {acctest.Values{"triggers": whole["triggers"]}, "replace"},
	} {
		if out := p.Plan(i, wikiRunOf(tc.config)); out.Action != tc.want || len(out.Errors) > 0 {
			t.Errorf("%s: %s", name, out)
		}
	}
	for _, entry := range e.Journal().Entries() {
		if entry.Method != http.MethodGet {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
}

func TestWikiRun_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	deep := `{"title":"t","path":"p"}`
	for range 5 {
		deep = `{"title":"t","path":"p","children":[` + deep + `]}`
	}
	const noURL, noHash = "repo_url must be the http or https URL", "commit_hash must be 7 to 64 hexadecimal digits"
	for name, tc := range map[string]struct{ at, value, want string }{
		"owner and name":        {"repo_url", "acme/api", noURL},
		"a user in the address": {"repo_url", "https://me:hunter2@code.example/acme/api", "…@code.example"},
		"a query":               {"repo_url", "https://code.example/acme/api?x=1", noURL},
		"ssh":                   {"repo_url", "ssh://code.example/acme/api", noURL},
		"blank branch":          {"branch", " ", "default branch, omit it"},
		"a reference":           {"branch", "refs/heads/main", `branch must be the name of a branch`},
		"no commit":             {"commit_hash", "", noHash},
		"a symbolic commit":     {"commit_hash", "HEAD", "latest commit of the branch, omit it"},
		"a short commit":        {"commit_hash", "c0ffee", noHash},
		"another level":         {"privacy_level", "public", "privacy_level must be one of private, organization, got: \"public\""},
		"pages are no JSON":     {"pages", `[`, "Invalid JSON String Value"},
		"pages are no list":     {"pages", `{}`, "pages must be a list of pages with path, title, and content: it has the wrong type: object."},
		"pages are null":        {"pages", `null`, "the list is empty"},
		"no pages":              {"pages", `[]`, "the list is empty; to let the service"},
		"a page is no object":   {"pages", `[1]`, "has the wrong type: number"},
		"a page is null":        {"pages", `[null]`, "pages[0] needs a title and content"},
		"a page has no path":    {"pages", `[{"title":"t","content":"c"}]`, "pages[0].path is"},
		"a page has no title":   {"pages", `[{"path":"p","title":null,"content":"c"}]`, "pages[0] needs a title and content"},
		"a page has no content": {"pages", `[{"path":"p","title":"t","content":"c"},{"path":"p","title":"t"}]`, "pages[1] needs a title and content"},
		"a page has more":       {"pages", `[{"path":"p","title":"t","content":"c","body":"x"}]`, `unknown field "body"`},
		"a title is no string":  {"pages", `[{"path":"p","title":1,"content":"c"}]`, "title has the wrong type: number"},
		"an order is no number": {"pages", `[{"path":"p","title":"t","content":"c","order":"1"}]`, "order has the wrong type: string"},
		"a page outside":        {"pages", `[{"path":"../p","title":"t","content":"c"}]`, "pages[0].path"},
		"a tree is no list":     {"page_tree", `{}`, "it has the wrong type: object"},
		"a node has no title":   {"page_tree", `[{"path":"p"}]`, "page_tree[0] needs a title and a path"},
		"a node has content":    {"page_tree", `[{"path":"p","title":"t","content":"c"}]`, `unknown field "content"`},
		"a child has no path":   {"page_tree", `[{"path":"p","title":"t","children":[{"title":"t"}]}]`, "page_tree[0].children[0] needs a title and a path"},
		"children are no list":  {"page_tree", `[{"path":"p","title":"t","children":"x"}]`, "children has the wrong type: string"},
		"six levels":            {"page_tree", `[` + deep + `]`, "at most five levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := wikiRunOf(acctest.Values{tc.at: tc.value})
			if tc.at == "page_tree" {
				config["pages"] = pagesJSON
			}
			p := acctest.NewProcess(t, e, nil)
			out := p.Plan(p.NewInstance(wikiRunType), config)
			if out.MustFail(t, tc.at, tc.want); strings.Contains(out.Text(), "hunter2") {
				t.Errorf("the error shows a password: %s", out)
			}
		})
	}
	p := acctest.NewProcess(t, e, nil)
	p.Plan(p.NewInstance(wikiRunType), acctest.Values{}).MustFail(t, "repo_url", "required")
	p.Plan(p.NewInstance(wikiRunType), wikiRunOf(acctest.Values{"page_tree": treeJSON})).MustFail(t, "page_tree", `"pages" must be specified when "page_tree" is specified`)
	t.Cleanup(func() {
		if requests := e.Journal().Entries(); len(requests) > 0 {
			t.Errorf("the service was asked: %+v", requests)
		}
	})
}

func TestWikiRun_errorsOfTheService(t *testing.T) {
	t.Parallel()
	status := func(code int) emulator.Fault {
		return emulator.Fault{Operation: "createWikiRun", Kind: emulator.FaultStatusBeforeCommit, Status: code}
	}
	const connected = "lists the connected repositories"
	for name, tc := range map[string]struct {
		fault  emulator.Fault
		before func(t *testing.T, e *acctest.Env)
		config acctest.Values
		at     string
		want   []string
	}{
		"not connected":       {config: acctest.Values{"repo_url": "https://code.example/acme/unknown"}, at: "repo_url", want: []string{"403", "acme/unknown", connected}},
		"no integration":      {before: func(_ *testing.T, e *acctest.Env) { e.ConnectIntegration(false) }, at: "repo_url", want: []string{"403", connected}},
		"switched off":        {before: func(t *testing.T, e *acctest.Env) { switchWikis(t, e, "false") }, at: "repo_url", want: []string{"403", "wikiCloudSync"}},
		"two pages of a path": {config: wikiRunOf(acctest.Values{"pages": `[{"path":"p","title":"t","content":"c"},{"path":"p","title":"t","content":"c"}]`}), want: []string{"400", "pages[1].path", "Correct the value that the message names."}},
		"a page in the way":   {config: wikiRunOf(acctest.Values{"pages": `[{"path":"wiki.json","title":"t","content":"c"}]`}), want: []string{"400", "pages[0].path"}},
		"a tree of others":    {config: wikiRunOf(acctest.Values{"pages": pagesJSON, "page_tree": `[{"path":"index.md","title":"t","children":[{"path":"x","title":"x"}]}]`}), want: []string{"400", "pageTree[0].children[0].path"}},
		"401":                 {fault: status(401), want: []string{"401", "AGENTYARD_API_KEY"}},
		"429":                 {fault: emulator.Fault{Operation: "createWikiRun", Kind: emulator.FaultRateLimited, Times: -1}, want: []string{"429", "requests_per_second"}},
		"500":                 {fault: status(500), want: []string{"unknown outcome", "wiki run of https://code.example/acme/api", "500", "Before you apply again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			if tc.fault.Operation != "" {
				e.Faults().Add(tc.fault)
			}
			if tc.before != nil {
				tc.before(t, e)
			}
			if tc.config == nil {
				tc.config = wikiRunOf(nil)
			}
			p := acctest.NewProcess(t, e, nil)
			p.Apply(p.NewInstance(wikiRunType), tc.config).MustFail(t, tc.at, append(tc.want, "createWikiRun")...)
			if left := wikiRunsOf(t, e); len(left) != 0 {
				t.Errorf("the emulator holds %+v", left)
			}
		})
	}
}
