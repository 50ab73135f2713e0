package wiki_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Fields that the provider does not know are in raw_json, which is normalized and, for a wrapped record, without the wrapper.
func TestWiki_rawJSON(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const run = `{"wikiRunId":"w1", "repoUrl":"` + acmeAPI + `", "new":{"b":1.50,"a":[]}}`
	const normal = `{"new":{"a":[],"b":1.50},"repoUrl":"` + acmeAPI + `","wikiRunId":"w1"}`
	ofRun := func(more acctest.Values) acctest.Values {
		config := acctest.Values{"wiki_run_id": "w1"}
		for name, v := range more {
			config[name] = v
		}
		return config
	}
	for name, tc := range map[string]struct {
		operation, body string
		config          acctest.Values
		rows, want      string
	}{
		"run":         {"getWikiRun", `{"wikiRun":` + run + `}`, acctest.Values{"id": "w1"}, "", normal},
		"runs":        {"listWikiRuns", `{"wikiRuns":[` + run + `]}`, nil, "wiki_runs", normal},
		"run_history": {"getWikiHistory", `[` + run + `]`, acctest.Values{"repo_url": acmeAPI}, "wiki_runs", normal},
		"page":        {"getWikiPage", `{"pageId":"p1","new":null,"content":""}`, ofRun(acctest.Values{"page_id": "p1"}), "", `{"content":"","new":null,"pageId":"p1"}`},
		"search":      {"searchWikiRun", `{"results":[{"pageId":"p1","score":0.5}]}`, ofRun(acctest.Values{"q": "x"}), "results", `{"pageId":"p1","score":0.5}`},
	} {
		e.Faults().Clear()
		e.Faults().Add(emulator.Fault{Operation: tc.operation, Kind: emulator.FaultOtherResponse, Times: -1, Body: tc.body})
		record, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_wiki_"+name, tc.config)
		out.MustSucceed(t)
		if tc.rows != "" {
			var rows []tftypes.Value
			acctest.Must(t, record[tc.rows].As(&rows))
			if len(rows) != 1 {
				t.Fatalf("%s: %s", name, record[tc.rows])
			}
			acctest.Must(t, rows[0].As(&record))
		}
		var got string
		acctest.Must(t, record["raw_json"].As(&got))
		if strings.TrimSpace(got) != tc.want {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
