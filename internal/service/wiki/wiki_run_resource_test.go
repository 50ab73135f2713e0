package wiki_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// runJSON contains the fields of a run that these tests check.
type runJSON struct {
	ID           string `json:"wikiRunId"`
	PrivacyLevel string
}

func onlyRun(t testing.TB, e *acctest.Env) runJSON {
	t.Helper()
	var run runJSON
	e.API(http.MethodGet, "/api/v0/wiki/"+check.Only(t, wikiRunsOf(t, e)).ID, nil, &run)
	return run
}

func addRun(t testing.TB, e *acctest.Env, given emulator.WikiRun) string {
	t.Helper()
	id, err := e.AddWikiRun(given)
	check.Must(t, err)
	return id
}

// isIn applies a configuration in a new process, checks the action and attributes, and that the next plan is empty.
func isIn(t *testing.T, e *acctest.Env, i *acctest.Instance, config acctest.Values, action acctest.Action, want map[string]any) {
	t.Helper()
	e.MustApply(t, i, config).MustDo(t, action)
	acctest.MustHave(t, acctest.Plain(t, i.State).(map[string]any), want)
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
}

// Another form of the same repository, of the same commit, of the same JSON, or of no triggers is no other run.
func TestWikiRun_equalForms(t *testing.T) {
	t.Parallel()
	const commit = "C0FFEE0123456789c0ffee0123456789c0ffee01"
	for name, tc := range map[string]struct {
		before, after acctest.Values
		action        acctest.Action
	}{
		"a commit in lower case":    {acctest.Values{"commit_hash": commit}, acctest.Values{"commit_hash": strings.ToLower(commit)}, "none"},
		"a short commit":            {acctest.Values{"commit_hash": commit}, acctest.Values{"commit_hash": commit[:7]}, "none"},
		"pages with blanks":         {acctest.Values{"pages": pagesJSON}, acctest.Values{"pages": strings.ReplaceAll(pagesJSON, ",", " , ")}, "none"},
		"empty triggers":            {nil, acctest.Values{"triggers": map[string]any{}}, "update"},
		"what the service chose":    {nil, acctest.Values{"branch": "main", "has_local_changes": false, "has_non_remote_commits": false}, "none"},
		"a repository with .git":    {nil, acctest.Values{"repo_url": acmeAPI + ".git"}, "none"},
		"a repository in capitals":  {nil, acctest.Values{"repo_url": strings.ToUpper(acmeAPI) + "/"}, "none"},
		"another repository":        {nil, acctest.Values{"repo_url": acmeWeb}, "replace"},
		"another commit":            {acctest.Values{"commit_hash": commit}, acctest.Values{"commit_hash": "facade0"}, "replace"},
		"empty instead of triggers": {acctest.Values{"triggers": map[string]any{"release": "1"}}, acctest.Values{"triggers": map[string]any{}}, "replace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			_, i := e.Created(t, wikiRunType, wikiRunOf(tc.before))
			isIn(t, e, i, wikiRunOf(tc.after), tc.action, nil)
		})
	}
}

func TestWikiRun_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const noURL, noHash = "repo_url must be the http or https URL", "commit_hash must be 7 to 64 hexadecimal digits"
	for name, tc := range map[string]struct{ at, value, want string }{
		"a user in the address": {"repo_url", "https://me:hunter2@code.example/acme/api", "…@code.example"},
		"a query":               {"repo_url", "https://code.example/acme/api?x=1", noURL},
		"blank branch":          {"branch", " ", "default branch, omit it"},
		"a reference":           {"branch", "refs/heads/main", `branch must be the name of a branch`},
		"a symbolic commit":     {"commit_hash", "HEAD", "latest commit of the branch, omit it"},
		"a short commit":        {"commit_hash", "c0ffee", noHash},
		"a blank level":         {"privacy_level", " ", "privacy_level must not be blank"},
		"pages are no JSON":     {"pages", `[`, "Invalid JSON String Value"},
		"pages are no list":     {"pages", `{}`, "pages must be a list of pages with path, title, and content: it has the wrong type: object."},
		"no pages":              {"pages", `[]`, "the list is empty; to let the service"},
		"a page is null":        {"pages", `[null]`, "pages[0] needs a title and content"},
		"a page has no content": {"pages", `[{"path":"p","title":"t","content":"c"},{"path":"p","title":"t"}]`, "pages[1] needs a title and content"},
		"a page has more":       {"pages", `[{"path":"p","title":"t","content":"c","body":"x"}]`, `unknown field "body"`},
		"a page outside":        {"pages", `[{"path":"../p","title":"t","content":"c"}]`, "pages[0].path"},
		"a tree is no list":     {"page_tree", `{}`, "it has the wrong type: object"},
		"a node has no title":   {"page_tree", `[{"path":"p"}]`, "page_tree[0] needs a title and a path"},
		"a node has content":    {"page_tree", `[{"path":"p","title":"t","content":"c"}]`, `unknown field "content"`},
		"a child has no path":   {"page_tree", `[{"path":"p","title":"t","children":[{"title":"t"}]}]`, "page_tree[0].children[0] needs a title and a path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := wikiRunOf(acctest.Values{tc.at: tc.value})
			if tc.at == "page_tree" {
				config["pages"] = pagesJSON
			}
			out := e.Plan(t, e.NewInstance(t, wikiRunType), config)
			out.MustFail(t, tc.at, tc.want)
			check.Lacks(t, out.Text(), "hunter2")
		})
	}
	lone := wikiRunOf(acctest.Values{"page_tree": treeJSON})
	e.Plan(t, e.NewInstance(t, wikiRunType), lone).MustFail(t, "page_tree", `"pages" must be specified when "page_tree" is specified`)
	t.Cleanup(func() {
		check.None(t, "requests", e.Journal().Entries())
	})
}

func TestWikiRun_errorsOfTheService(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	fails := func(config acctest.Values, at string, want ...string) {
		t.Helper()
		e.Apply(t, e.NewInstance(t, wikiRunType), config).MustFail(t, at, append(want, "createWikiRun")...)
	}
	tree := `[{"path":"index.md","title":"t","children":[{"path":"x","title":"x"}]}]`
	fails(acctest.Values{"repo_url": "https://code.example/acme/unknown"}, "repo_url", "403", "acme/unknown", "lists the connected repositories")
	fails(wikiRunOf(acctest.Values{"pages": pagesJSON, "page_tree": tree}), "", "400", "pageTree[0].children[0].path")
	e.Faults().Add(emulator.Fault{Operation: "createWikiRun", Kind: emulator.FaultStatusBeforeCommit, Status: 500})
	fails(wikiRunOf(nil), "", "unknown outcome", "wiki run of https://code.example/acme/api", "500", "Before you apply again")
	check.Is(t, "runs", len(wikiRunsOf(t, e)), 0)
}

// An older run that the list no longer shows because of a newer run is not gone.
func TestWikiRun_anOlderRunStays(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, wikiRunType, wikiRunOf(nil))
	older := i.ID()
	e.Clock.Advance(time.Hour)
	newer := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	e.Plan(t, i, wikiRunOf(nil)).MustDo(t, acctest.ActionNone)
	e.Clock.Advance(time.Hour)
	e.API(http.MethodDelete, "/api/v0/wiki/"+older, nil, nil)
	e.MustApply(t, i, wikiRunOf(nil)).MustDo(t, acctest.ActionCreate)
	e.MustApply(t, i, nil)
	if left := wikiRunsOf(t, e); len(left) != 1 || left[0].ID != newer {
		t.Errorf("the emulator holds %+v", left)
	}
}

// A private run that another API key cannot see is not treated as gone, neither by a read nor by a delete. With the key that
// last read it, it is.
func TestWikiRun_privateRunsOfOthers(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	owner, other := e.MemberKey("robin@acme.example", ""), e.MemberKey("ada@acme.example", "")
	process := func(key string) *acctest.Process { return acctest.NewProcess(t, e, acctest.Values{"api_key": key}) }
	config := wikiRunOf(acctest.Values{"privacy_level": "private"})
	i := process(owner).NewInstance(wikiRunType)
	process(owner).Apply(i, config).MustSucceed(t)
	hidden := func(what string, out acctest.Outcome) {
		t.Helper()
		if len(out.Errors) != 1 || !strings.Contains(out.Text(), "Wiki run "+i.ID()+" is not visible to the provider's API key") || !strings.Contains(out.Text(), "terraform state rm ADDRESS") {
			t.Errorf("%s: %s", what, out)
		}
	}
	hidden("read", process(other).Plan(i, config))
	hidden("deleted", process(other).Destroy(i))
	if n := len(wikiRunsOf(t, e)); n != 1 || i.State.IsNull() {
		t.Fatalf("the emulator holds %d runs, the state %v", n, i.State)
	}
	if status, _ := e.TryWithKey(owner, http.MethodDelete, "/api/v0/wiki/"+i.ID(), nil); status >= http.StatusMultipleChoices {
		t.Fatal(status)
	}
	process(owner).Destroy(i.Clone()).MustSucceed(t)
	process(owner).Plan(i, config).MustDo(t, acctest.ActionCreate)
}

// A user who is neither the owner nor a manager gets an error that says whose API key is needed.
func TestWikiRun_isForItsOwner(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	other := acctest.NewProcess(t, e, acctest.Values{"api_key": e.MemberKey("robin@acme.example", "")})
	shared, private := wikiRunOf(acctest.Values{"privacy_level": "organization"}), wikiRunOf(acctest.Values{"privacy_level": "private"})
	_, i := e.Created(t, wikiRunType, shared)
	e.WantRequests(t, "updateWikiPrivacy", 0) // The service's own level needs no request.
	id := i.ID()
	other.Apply(i, shared).MustDo(t, acctest.ActionNone)
	acctest.MustHave(t, acctest.Plain(t, i.State).(map[string]any), map[string]any{"can_update_privacy": false})
	other.Apply(i, private).MustFail(t, "privacy_level", "Cannot update wiki run", "403", "Only the owner", "remove privacy_level")
	other.Destroy(i).MustFail(t, "", "Cannot delete wiki run", id, "403", "Only the owner")
	e.Plan(t, i, shared).MustDo(t, acctest.ActionNone)
}

// If only the privacy level of a new run could not be set, the run is kept, and the next plan updates it in place.
func TestWikiRun_withoutItsPrivacy(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "updateWikiPrivacy", Kind: emulator.FaultStatusBeforeCommit, Status: 422, Times: -1})
	i, config := e.NewInstance(t, wikiRunType), wikiRunOf(acctest.Values{"privacy_level": "private"})
	out := e.MustApply(t, i, config)
	run := onlyRun(t, e)
	check.Says(t, out.WarningText(), "Privacy level not set", run.ID, `is "organization" instead of "private"`, "The next apply sets it", "422")
	e.Faults().Clear()
	if i.ID() != run.ID || i.Tainted {
		t.Errorf("the state holds %v", i.State)
	}
	isIn(t, e, i, config, acctest.ActionUpdate, map[string]any{"privacy_level": "private"})
	if now := onlyRun(t, e); now.ID != run.ID || now.PrivacyLevel != "private" {
		t.Errorf("the emulator holds %+v", now)
	}
}

// After an interrupt during the create, the privacy level is still set, because other users must not see the run.
func TestWikiRun_interruptedBeforeItsPrivacy(t *testing.T) {
	t.Parallel()
	var p *acctest.Process
	e := acctest.New(t, acctest.Hold("createWikiRun", func(<-chan struct{}) { p.Stop() }))
	p = acctest.NewProcess(t, e, nil)
	i, config := p.NewInstance(wikiRunType), wikiRunOf(acctest.Values{"privacy_level": "private"})
	p.Apply(i, config)
	if made := onlyRun(t, e); made.PrivacyLevel != "private" || i.ID() != made.ID || i.Tainted {
		t.Errorf("the run is left %s; tainted %v, the state is %s", made.PrivacyLevel, i.Tainted, i.State)
	}
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
}
