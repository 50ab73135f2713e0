package analytics_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var myCost = sources[5]

// The rows of every query are returned as JSON. The days of the query with known rows are also returned as values.
func TestAccAnalyticsMyCost_everyQuery(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var steps []resource.TestStep
	for _, key := range analytics.CostQueryKeys() {
		s := myCost
		s.arguments, s.query = fmt.Sprintf("query_key = %q", key), "&queryKey="+key
		rows, organization := s.answer(e, "2026-02-20", "2026-02-28", "")
		if len(rows) == 0 {
			t.Fatalf("the API answers no rows to %s", key)
		}
		want := map[string]knownvalue.Check{
			"query_key": knownvalue.StringExact(key), "org_id": knownvalue.StringExact(organization), "data": knownvalue.ListExact(nil), "data_json": sameJSON(rows),
		}
		if key == analytics.CostHeadlineDaily {
			want["data"], want["data_json"] = s.rows(inOrder(rows, "")), sameJSON(inOrder(rows, ""))
		}
		steps = append(steps, read(e.Config(s.config("2026-02-20", "2026-02-28", "")), s.known(want)...))
	}
	run(t, e, steps...)
}

// sameJSON checks that a value is the JSON of rows, with sorted keys.
func sameJSON(rows []map[string]any) knownvalue.Check {
	return knownvalue.StringFunc(func(got string) error {
		var decoded any
		if err := json.Unmarshal([]byte(got), &decoded); err != nil {
			return err
		}
		want, err := json.Marshal(rows)
		if err != nil {
			return err
		}
		if again, err := json.Marshal(decoded); err != nil || string(again) != string(want) {
			return fmt.Errorf("got %s, want %s", again, want)
		}
		return nil
	})
}

func TestAccAnalyticsMyCost_dataJSONIsNormalized(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: myCost.operation, Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"data": [{"date": "2026-02-28", "fsc": 12345678901234567890, "b": "<x>"}, {"fsc": null, "date": "2026-02-27"}], "meta": {}}`})
	run(t, e, read(e.Config(myCost.config("2026-02-27", "2026-02-28", "")), myCost.known(map[string]knownvalue.Check{
		"data_json": knownvalue.StringExact(`[{"date":"2026-02-27","fsc":null},{"b":"<x>","date":"2026-02-28","fsc":12345678901234567890}]`),
		"data":      myCost.rows([]map[string]any{{"date": "2026-02-27"}, {"date": "2026-02-28", "fsc": 12345678901234567890.0}}),
	})...))
}

func TestAccAnalyticsMyCost_arguments(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := myCost
	s.arguments = `query_key = "team_cost"`
	run(t, e, refused(e.Config(s.config("2026-02-20", "2026-02-28", "")), `(?s)query_key = "team_cost".*query_key\s+must\s+be\s+one\s+of\s+headline_daily,`))
	s.arguments = ""
	run(t, e, refused(e.Config(s.config("2026-02-20", "2026-02-28", "")), `argument "query_key" is required`))

	e.Clock.Advance(60 * 24 * 60 * 60 * 1e9)
	run(t, e,
		refused(e.Config(myCost.config("2026-01-14", "2026-04-14", "")), `(?s)Invalid Date Range.*start_date = "2026-01-14".*maximum\s+is\s+90\s+days`),
		read(e.Config(myCost.config("2026-01-14", "2026-04-13", "")), myCost.known(map[string]knownvalue.Check{"data": knownvalue.ListSizeExact(90)})...),
		// The organization's data has no such limit.
		read(e.Config(sources[3].config("2026-01-14", "2026-04-29", "")), sources[3].known(map[string]knownvalue.Check{"data": knownvalue.ListSizeExact(106)})...),
	)
}
