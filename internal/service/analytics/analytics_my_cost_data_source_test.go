package analytics_test

import (
	"encoding/json"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var myCost = sources[5]

// The rows of every query are returned as JSON. The days of the query with known rows are also returned as values.
func TestAnalyticsMyCost_everyQuery(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := between("2026-02-20", "2026-02-28")
	for _, key := range analytics.CostQueryKeys() {
		s := myCost
		s.query = "&queryKey=" + key
		rows, organization := s.answer(e, "2026-02-20", "2026-02-28", "")
		if len(rows) == 0 {
			t.Fatalf("the API answers no rows to %s", key)
		}
		want := map[string]any{"query_key": key, "org_id": organization, "data": []any{}}
		if key == analytics.CostHeadlineDaily {
			want["data"] = s.inOrder(rows, "")
		}
		text, err := json.Marshal(rows)
		acctest.Must(t, err)
		want["data_json"] = string(text)
		config["query_key"] = key
		s.mustRead(t, e, nil, config, want)
	}
	config["query_key"] = "team_cost"
	myCost.mustFail(t, e, nil, config, "query_key", "query_key must be \"headline_daily\",")
}

func TestAnalyticsMyCost_dataJSONIsNormalized(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: myCost.operation, Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"data": [{"date": "2026-02-28", "fsc": 12345678901234567890, "b": "<x>"}, {"fsc": null, "date": "2026-02-27"}], "meta": {}}`})
	myCost.mustRead(t, e, nil, between("2026-02-27", "2026-02-28"), map[string]any{
		"data_json": `[{"date":"2026-02-27","fsc":null},{"b":"<x>","date":"2026-02-28","fsc":12345678901234567890}]`,
		"data":      []any{map[string]any{"date": "2026-02-27", "fsc": nil}, map[string]any{"date": "2026-02-28", "fsc": 12345678901234567890.0}},
	})
}
