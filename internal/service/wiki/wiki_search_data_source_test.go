package wiki_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func searchConfig(run, q, more string) string {
	return fmt.Sprintf("data \"agentyard_wiki_search\" \"x\" {\n  wiki_run_id = %q\n  q           = %q\n%s\n}\n", run, q, more)
}

func TestAccWikiSearch(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run := uploadWiki(e,
		page{PageID: "p1", Path: "one.md", Title: "One", Content: "a cache"},
		page{PageID: "p2", Path: "two.md", Title: "Cache", Content: "another cache & more, 100% CACHE"},
		page{PageID: "p3", Path: "three.md", Title: "Three", Content: "nothing"},
	)
	found := func(id string, count int64) knownvalue.Check {
		return knownvalue.ObjectPartial(map[string]knownvalue.Check{"page_id": knownvalue.StringExact(id), "match_count": knownvalue.Int64Exact(count)})
	}
	results := func(want ...knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.agentyard_wiki_search.x", tfjsonpath.New("results"), knownvalue.ListExact(want))
	}
	for hcl, want := range map[string]statecheck.StateCheck{
		searchConfig(run, "cache", ""):             results(found("p2", 3), found("p1", 1)),
		searchConfig(run, "cache", "limit = 1"):    results(found("p2", 3)),
		searchConfig(run, "& more, 100% c", ""):    results(found("p2", 1)),
		searchConfig(run, "cached", "limit = 100"): results(),
	} {
		reads(t, e, hcl, want)
	}
	reads(t, e, searchConfig(run, "nothing", ""), results(knownvalue.ObjectExact(map[string]knownvalue.Check{
		"raw_json": knownvalue.NotNull(),
		"page_id":  knownvalue.StringExact("p3"), "title": knownvalue.StringExact("Three"), "path": knownvalue.StringExact("three.md"),
		"snippet": knownvalue.StringExact("nothing"), "match_count": knownvalue.Int64Exact(1),
	})))
}

// Without a configured limit, none is sent, so that the service chooses.
func TestAccWikiSearch_moreThanTheServicesOwnLimit(t *testing.T) {
	t.Parallel()
	var queries []string
	e := acctest.New(t, watching("/search", func(r *http.Request) { queries = append(queries, r.URL.RawQuery) }))
	var pages []page
	for i := range 25 {
		pages = append(pages, page{Path: fmt.Sprintf("p%d.md", i), Title: "Page", Content: "cache"})
	}
	run := uploadWiki(e, pages...)
	size := func(n int) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.agentyard_wiki_search.x", tfjsonpath.New("results"), knownvalue.ListSizeExact(n))
	}
	reads(t, e, searchConfig(run, "cache", ""), size(20))
	if len(queries) == 0 || strings.Contains(strings.Join(queries, " "), "limit") {
		t.Errorf("the queries are %q", queries)
	}
	reads(t, e, searchConfig(run, "cache", "limit = 100"), size(25))
}

// watching calls see for requests whose path has the suffix. Calls are serialized.
func watching(suffix string, see func(*http.Request)) acctest.Option {
	return acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, suffix) {
				see(r)
			}
			next.ServeHTTP(w, r)
		})
	})
}

func TestWikiSearch_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run, private := uploadWiki(e, page{Path: "index.md", Title: "Index"}), privateRun(t, e)
	search := func(run, q string) acctest.Values { return acctest.Values{"wiki_run_id": run, "q": q} }
	const cannot = "Cannot search wiki run"
	for _, id := range []string{"none", private} {
		fails(t, e, "search", search(id, "x"), "wiki_run_id", cannot, "the wiki run "+id, "404", "does not exist, or")
	}
	fails(t, e, "search", search("..", "x"), "", "cannot be part of a request's path")
	fails(t, e, "search", search("", "x"), "wiki_run_id", "wiki_run_id must not be blank")
	fails(t, e, "search", search(run, ""), "q", "q must not be blank")
	fails(t, e, "search", search(run, " \t"), "q", "q must not be blank")
	for _, limit := range []int{0, 101} {
		fails(t, e, "search", acctest.Values{"wiki_run_id": run, "q": "x", "limit": limit}, "limit", "limit value must be between 1 and 100")
	}
	e.Faults().Add(emulator.Fault{Operation: "searchWikiRun", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{}`})
	fails(t, e, "search", search(run, "x"), "", cannot, "the field results is missing")
	e.Faults().Clear()
	switchWikis(t, e, "false")
	fails(t, e, "search", search(run, "x"), "wiki_run_id", cannot, "403", "wikiCloudSync")
}
