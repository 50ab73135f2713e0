package wiki_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// read reads a data source with additional provider settings.
func read(t *testing.T, e *acctest.Env, settings acctest.Values, name string, config acctest.Values) map[string]any {
	t.Helper()
	return e.MustRead(t, settings, "agentyard_wiki_"+name, config)
}

// mustList fails the test unless these runs are listed, in this order.
func mustList(t *testing.T, runs any, want ...string) {
	t.Helper()
	var ids []string
	for _, run := range runs.([]any) {
		run := run.(map[string]any)
		ids = append(ids, run["id"].(string))
		if run["branch"] != "main" || run["page_tree"] == nil || run["repo_url"] == nil {
			t.Errorf("listed %v", run)
		}
	}
	if !slices.Equal(ids, want) {
		t.Errorf("listed %v, want %v", ids, want)
	}
}

func TestWikiRunDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI, CommitHash: "c0ffee0", SourceSessionID: "session-1"})
	acctest.Must(t, e.SetVideoOverview(id, map[string]any{"z": 1.5, "a": []string{"b"}}))
	run := read(t, e, nil, "run", acctest.Values{"id": id})
	acctest.MustHave(t, run, map[string]any{
		"id": id, "repo_url": acmeAPI, "commit_hash": "c0ffee0", "branch": "main", "created_at": "2026-03-01T12:00:00Z", "source_session_id": "session-1",
		"video_overview": `{"a":["b"],"z":1.5}`, "privacy_level": "organization", "can_update_privacy": true, "has_local_changes": false,
	})
	acctest.MustHave(t, run["model_used"].(map[string]any), map[string]any{"id": "model-a", "reasoning_effort": "medium"})
	if run["page_count"] == nil || run["owner_user_id"] == nil {
		t.Errorf("read %v", run)
	}
	fails(t, e, "run", acctest.Values{"id": "wiki_unknown"}, "id", "Wiki run not found", "its owner")
}

func TestWikiRuns(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	mustList(t, read(t, e, nil, "runs", nil)["wiki_runs"])
	other := acctest.Values{"api_key": e.MemberKey("robin@acme.example", "")}
	web := addRun(t, e, emulator.WikiRun{RepoURL: acmeWeb})
	older := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	e.Clock.Advance(time.Minute)
	api := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	hidden := addRun(t, e, emulator.WikiRun{RepoURL: "https://code.example/robin/tools", OwnerEmail: "robin@acme.example", PrivacyLevel: "private"})
	e.Journal().Reset()
	mustList(t, read(t, e, nil, "runs", nil)["wiki_runs"], api, web)
	ofOther := read(t, e, other, "runs", nil)["wiki_runs"]
	mustList(t, ofOther, api, web, hidden)
	acctest.MustHave(t, ofOther.([]any)[0].(map[string]any), map[string]any{"can_update_privacy": false, "repo_url": acmeAPI, "video_overview": nil})
	if n := len(e.Journal().Entries()); n != e.Journal().Count("listWikiRuns") {
		t.Errorf("more was sent than listings: %+v", e.Journal().Entries())
	}

	e.Clock.Advance(time.Minute)
	private := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI, PrivacyLevel: "private"})
	history := func(settings acctest.Values, address string) any {
		return read(t, e, settings, "run_history", acctest.Values{"repo_url": address})["wiki_runs"]
	}
	mustList(t, history(nil, strings.ToUpper(acmeAPI)+".git/"), private, api, older)
	mustList(t, history(other, acmeAPI), api, older)
	mustList(t, history(nil, "https://code.example/acme/legacy"))
	for _, address := range []string{"acme/api", "https://code.example/acme/api/../web%2f.."} {
		fails(t, e, "run_history", acctest.Values{"repo_url": address}, "repo_url", "repo_url must be the http")
	}
	fails(t, e, "run_history", acctest.Values{"repo_url": "https://code.example/acme/unknown"}, "repo_url", "getWikiHistory", "403", "lists the connected repositories")

	list := func(config acctest.Values) ([]any, acctest.Outcome) {
		p := acctest.NewProcess(t, e, nil)
		listed, out := p.List(wikiRunType, config)
		all := []any{}
		for k, run := range listed {
			run := acctest.Plain(t, run).(map[string]any)
			acctest.MustHave(t, run, map[string]any{"pages": nil, "triggers": nil, "page_tree": nil})
			if want := fmt.Sprint(run["repo_url"], "@", run["commit_hash"]); p.Names[k] != want {
				t.Errorf("a run is named %s, want %s", p.Names[k], want)
			}
			run["page_tree"] = "" // Only data sources have it.
			all = append(all, run)
		}
		return all, out
	}
	e.Journal().Reset()
	all, _ := list(nil)
	mustList(t, all, private, web)
	all, _ = list(acctest.Values{"repo_url": acmeAPI})
	mustList(t, all, private, api, older)
	if n := e.Journal().Count("listWikiRuns") + e.Journal().Count("getWikiHistory"); n != len(e.Journal().Entries()) {
		t.Errorf("more was sent than listings: %+v", e.Journal().Entries())
	}
	_, out := list(acctest.Values{"repo_url": "acme/api"})
	acctest.Says(t, out.Text(), "repo_url must be the http")
	switchWikis(t, e, "false")
	fails(t, e, "runs", nil, "", "Cannot list wiki runs", "listWikiRuns", "403", "wikiCloudSync")
	_, out = list(nil)
	acctest.Says(t, out.Text(), "Cannot list wiki runs", "403", "wikiCloudSync")
}

// Fields that the provider does not know are in raw_json, which is normalized and, for a wrapped record, without the wrapper.
func TestWiki_rawJSON(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const run = `{"wikiRunId":"w1", "repoUrl":"` + acmeAPI + `", "new":{"b":1.50,"a":[]}}`
	const normal = `{"new":{"a":[],"b":1.50},"repoUrl":"` + acmeAPI + `","wikiRunId":"w1"}`
	for name, tc := range map[string]struct {
		operation, body string
		config          acctest.Values
		rows, want      string
	}{
		"run":         {"getWikiRun", `{"wikiRun":` + run + `}`, acctest.Values{"id": "w1"}, "", normal},
		"runs":        {"listWikiRuns", `{"wikiRuns":[` + run + `]}`, nil, "wiki_runs", normal},
		"run_history": {"getWikiHistory", `[` + run + `]`, acctest.Values{"repo_url": acmeAPI}, "wiki_runs", normal},
		"page":        {"getWikiPage", `{"pageId":"p1","new":null,"content":""}`, acctest.Values{"wiki_run_id": "w1", "page_id": "p1"}, "", `{"content":"","new":null,"pageId":"p1"}`},
		"search":      {"searchWikiRun", `{"results":[{"pageId":"p1","score":0.5}]}`, acctest.Values{"wiki_run_id": "w1", "query": "x"}, "results", `{"pageId":"p1","score":0.5}`},
	} {
		e.Faults().Clear()
		e.Faults().Add(emulator.Fault{Operation: tc.operation, Kind: emulator.FaultOtherResponse, Times: -1, Body: tc.body})
		record := e.MustRead(t, nil, "agentyard_wiki_"+name, tc.config)
		if tc.rows != "" {
			record = record[tc.rows].([]any)[0].(map[string]any)
		}
		if got := strings.TrimSpace(record["raw_json"].(string)); got != tc.want {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
