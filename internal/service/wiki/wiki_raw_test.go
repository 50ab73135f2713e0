package wiki_test

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
