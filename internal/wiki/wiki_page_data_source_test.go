package wiki_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func pageConfig(run, page string) string {
	return fmt.Sprintf("data \"agentyard_wiki_page\" \"x\" {\n  wiki_run_id = %q\n  page_id     = %q\n}\n", run, page)
}

// IDs of pages are whatever a service makes them, and none of them may lead to another operation.
func TestAccWikiPage(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const hard = "a b/../privacy?x=1#%2f{ä}"
	run := uploadWiki(e,
		page{PageID: "p1", Path: "index.md", Title: "Index", Content: "# Index\n\n[Storage](storage/index.md)\n", Order: 1},
		page{PageID: hard, Path: "storage/index.md", Title: "Storage", Content: "", Order: 7.5},
	)
	for id, want := range map[string][]knownvalue.Check{
		"p1": {knownvalue.StringExact("index.md"), knownvalue.StringExact("Index"), knownvalue.StringExact("# Index\n\n[Storage](storage/index.md)\n"), knownvalue.Int64Exact(1)},
		hard: {knownvalue.StringExact("storage/index.md"), knownvalue.StringExact("Storage"), knownvalue.StringExact(""), knownvalue.Int64Exact(7)},
	} {
		is := func(attribute string, want knownvalue.Check) statecheck.StateCheck {
			return statecheck.ExpectKnownValue("data.agentyard_wiki_page.x", tfjsonpath.New(attribute), want)
		}
		reads(t, e, pageConfig(run, id), is("path", want[0]), is("title", want[1]), is("content", want[2]), is("order", want[3]),
			is("page_id", knownvalue.StringExact(id)), is("wiki_run_id", knownvalue.StringExact(run)))
	}
}

func TestAccWikiPage_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run := uploadWiki(e, page{PageID: "p1", Path: "index.md", Title: "Index"})
	const notFound = `Cannot read wiki page(.|\n)*page_id\s+=(.|\n)*%s(.|\n)*getWikiPage(.|\n)*404(.|\n)*Either\s+the\s+wiki\s+run\s+does\s+not\s+exist(.|\n)*page_tree`
	for hcl, want := range map[string]string{
		pageConfig(run, "none"):                                fmt.Sprintf(notFound, `page\s+"none"\s+of\s+the\s+wiki\s+run\s+`+run),
		pageConfig("none", "p1"):                               fmt.Sprintf(notFound, `page\s+"p1"\s+of\s+the\s+wiki\s+run\s+none`),
		pageConfig(privateRun(t, e), "p1"):                     fmt.Sprintf(notFound, `page\s+"p1"`),
		pageConfig(run, "%2f"):                                 fmt.Sprintf(notFound, `page\s+"%2f"`),
		pageConfig(run, ".."):                                  `getWikiPage:\s+"\.\."\s+cannot\s+be\s+part\s+of\s+a\s+request's\s+path`,
		pageConfig("..", "p1"):                                 `wiki\s+run\s+\.\.(.|\n)*cannot\s+be\s+part\s+of\s+a\s+request's\s+path`,
		pageConfig(run, ""):                                    `page_id\s+must\s+not\s+be\s+blank`,
		pageConfig(run, " "):                                   `page_id\s+must\s+not\s+be\s+blank`,
		pageConfig(" ", "p1"):                                  `wiki_run_id\s+must\s+not\s+be\s+blank`,
		`data "agentyard_wiki_page" "x" { wiki_run_id = "r" }`: `"page_id"\s+is\s+required`,
	} {
		fails(t, e, hcl, want)
	}
	switchOff(t, e)
	fails(t, e, pageConfig(run, "p1"), `Cannot read wiki page(.|\n)*wiki_run_id\s+=(.|\n)*403(.|\n)*Wikis\s+are\s+disabled(.|\n)*wikiCloudSync`)
}

// An answer about another page is no answer.
func TestAccWikiPage_anotherPage(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run := uploadWiki(e, page{PageID: "p1", Path: "index.md", Title: "Index"})
	e.Faults().Add(emulator.Fault{Operation: "getWikiPage", Kind: emulator.FaultOtherAnswer, Times: -1, Body: `{"pageId":"p2","path":"a.md","title":"A","content":"","order":1}`})
	fails(t, e, pageConfig(run, "p1"), `Cannot read wiki page(.|\n)*it\s+holds\s+the\s+object\s+p2\s+instead\s+of\s+p1`)
}
