package wiki_test

import (
	"fmt"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
	e.Faults().Clear()
	switchWikis(t, e, "false")
	fails(t, e, "page", pageOf(run, "p1"), "wiki_run_id", "Cannot read wiki page", "403", "Wikis are disabled", "wikiCloudSync")
}
