package wiki_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
	for _, id := range []string{"none", private} {
		fails(t, e, "search", search(id, "x"), "wiki_run_id", cannot, "the wiki run "+id, "404", "does not exist, or")
	}
	fails(t, e, "search", search(run, " \t"), "query", "query must not be blank")
	fails(t, e, "search", acctest.Values{"wiki_run_id": run, "query": "x", "limit": 0}, "limit", "limit must be")
	e.Faults().Add(emulator.Fault{Operation: "searchWikiRun", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{}`})
	fails(t, e, "search", search(run, "x"), "", cannot, "the field results is missing")
	e.Faults().Clear()
	switchWikis(t, e, "false")
	fails(t, e, "search", search(run, "x"), "wiki_run_id", cannot, "403", "wikiCloudSync")
}
