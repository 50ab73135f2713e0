package wiki_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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
		ids = append(ids, run.(map[string]any)["id"].(string))
	}
	check.Is(t, "listed", ids, want)
}

// Only the read of one run has its video.
func TestWikiRunDataSource_video(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	check.Must(t, e.SetVideoOverview(id, map[string]any{"z": 1.5, "a": []string{"b"}}))
	acctest.MustHave(t, read(t, e, nil, "run", acctest.Values{"id": id}), map[string]any{"video_overview": `{"a":["b"],"z":1.5}`})
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
	mustList(t, read(t, e, other, "runs", nil)["wiki_runs"], api, web, hidden)
	check.Is(t, "requests, and listings", len(e.Journal().Entries()), e.Journal().Count("listWikiRuns"))

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

	p := acctest.NewProcess(t, e, nil)
	_, out := p.List(wikiRunType, acctest.Values{"repo_url": acmeAPI})
	out.MustSucceed(t)
	check.Is(t, "listed", p.Identities, []acctest.Values{{"id": private}, {"id": api}, {"id": older}})
	_, out = p.List(wikiRunType, acctest.Values{"repo_url": "acme/api"})
	check.Says(t, out.Text(), "repo_url must be the http")
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
		check.Is(t, name, strings.TrimSpace(record["raw_json"].(string)), tc.want)
	}
}

// fails expects an error of a data source, at an attribute or at none.
func fails(t *testing.T, e *acctest.Env, name string, config acctest.Values, at string, want ...string) {
	t.Helper()
	e.MustNotRead(t, nil, "agentyard_wiki_"+name, config, at, want...)
}

// page is an uploaded page.
type page struct {
	PageID  string  `json:"pageId,omitempty"`
	Path    string  `json:"path"`
	Title   string  `json:"title"`
	Content string  `json:"content"`
	Order   float64 `json:"order"`
}

// uploadWiki creates a run from pages and returns its ID.
func uploadWiki(e *acctest.Env, pages ...page) string {
	return e.Make("/api/v0/wiki", map[string]any{"repoUrl": "https://code.example/acme/api", "pages": pages}).ID
}

// privateRun creates a run that only another user can see, and returns its ID.
func privateRun(t *testing.T, e *acctest.Env) string {
	t.Helper()
	e.MemberKey("ada@acme.example", "")
	return addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI, OwnerEmail: "ada@acme.example", PrivacyLevel: "private"})
}

// Page IDs are arbitrary strings, and none may lead to another operation.
func TestWikiPage(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const hard = "a b/../privacy?x=1#%2f{ä}"
	run := uploadWiki(e,
		page{PageID: "p1", Path: "index.md", Title: "Index", Content: "# Index\n\n[Storage](storage/index.md)\n", Order: 1},
		page{PageID: hard, Path: "storage/index.md", Title: "Storage", Content: "", Order: 7.5},
	)
	for id, want := range map[string]map[string]any{
		"p1": {"path": "index.md", "title": "Index", "content": "# Index\n\n[Storage](storage/index.md)\n", "order": 1.0},
		hard: {"path": "storage/index.md", "title": "Storage", "content": "", "order": 7.0},
	} {
		found := read(t, e, nil, "page", acctest.Values{"wiki_run_id": run, "page_id": id})
		acctest.MustHave(t, found, want)
		acctest.MustHave(t, found, map[string]any{"page_id": id, "wiki_run_id": run})
	}
}

func TestWikiPage_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run := uploadWiki(e, page{PageID: "p1", Path: "index.md", Title: "Index"})
	private := privateRun(t, e)
	pageOf := func(run, page string) acctest.Values { return acctest.Values{"wiki_run_id": run, "page_id": page} }
	for _, tc := range [][2]string{{run, "none"}, {"none", "p1"}, {private, "p1"}, {run, "%2f"}} {
		fails(t, e, "page", pageOf(tc[0], tc[1]), "page_id", "Cannot read wiki page", fmt.Sprintf("page %q of the wiki run %s", tc[1], tc[0]), "getWikiPage", "404", "Either the wiki run does not exist", "page_tree")
	}
	fails(t, e, "page", pageOf(" ", "p1"), "wiki_run_id", "wiki_run_id must not be blank")
	fails(t, e, "page", pageOf(run, " "), "page_id", "page_id must not be blank")
	// A response about another page is an error.
	e.Faults().Add(emulator.Fault{Operation: "getWikiPage", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"pageId":"p2","path":"a.md","title":"A","content":"","order":1}`})
	fails(t, e, "page", pageOf(run, "p1"), "", "Cannot read wiki page", "it contains p2 instead of p1")
}

func TestWikiSearch(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run := uploadWiki(e,
		page{PageID: "p1", Path: "one.md", Title: "One", Content: "a cache"},
		page{PageID: "p2", Path: "two.md", Title: "Cache", Content: "another cache & more, 100% CACHE"},
		page{PageID: "p3", Path: "three.md", Title: "Three", Content: "nothing"},
	)
	search := func(more acctest.Values) (results []any, found string) {
		more["wiki_run_id"] = run
		results = read(t, e, nil, "search", more)["results"].([]any)
		for _, result := range results {
			result := result.(map[string]any)
			found += fmt.Sprint(result["page_id"], " ", result["match_count"], ";")
		}
		return results, found
	}
	for want, config := range map[string]acctest.Values{
		"p2 3;p1 1;": {"query": "cache"}, "p2 3;": {"query": "cache", "limit": 1}, "p2 1;": {"query": "& more, 100% c"}, "": {"query": "cached", "limit": 100},
	} {
		if _, found := search(config); found != want {
			t.Errorf("%v: found %q, want %q", config, found, want)
		}
	}
	results, _ := search(acctest.Values{"query": "nothing"})
	acctest.MustHave(t, results[0].(map[string]any), map[string]any{"page_id": "p3", "title": "Three", "path": "three.md", "snippet": "nothing", "match_count": 1.0})
}

// Without a configured limit, none is sent, so that the service chooses.
func TestWikiSearch_moreThanTheServicesOwnLimit(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var pages []page
	for i := range 25 {
		pages = append(pages, page{Path: fmt.Sprintf("p%d.md", i), Title: "Page", Content: "cache"})
	}
	run := uploadWiki(e, pages...)
	e.Journal().Reset()
	few := read(t, e, nil, "search", acctest.Values{"wiki_run_id": run, "query": "cache"})
	if sent := e.Journal().Entries(); len(sent) != 1 || strings.Contains(sent[0].Query, "limit") {
		t.Errorf("sent %+v", sent)
	}
	all := read(t, e, nil, "search", acctest.Values{"wiki_run_id": run, "query": "cache", "limit": 100})
	if len(few["results"].([]any)) != 20 || len(all["results"].([]any)) != 25 {
		t.Errorf("found %v and %v", few, all)
	}
}

func TestWikiSearch_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run, private := uploadWiki(e, page{Path: "index.md", Title: "Index"}), privateRun(t, e)
	search := func(run, q string) acctest.Values { return acctest.Values{"wiki_run_id": run, "query": q} }
	const cannot = "Cannot search wiki run"
	fails(t, e, "search", search(private, "x"), "wiki_run_id", cannot, "the wiki run "+private, "404", "does not exist, or")
	fails(t, e, "search", search(run, " \t"), "query", "query must not be blank")
	fails(t, e, "search", acctest.Values{"wiki_run_id": run, "query": "x", "limit": 0}, "limit", "limit must be")
	e.Faults().Add(emulator.Fault{Operation: "searchWikiRun", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{}`})
	fails(t, e, "search", search(run, "x"), "", cannot, "the field results is missing")
}
