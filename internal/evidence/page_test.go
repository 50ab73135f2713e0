package evidence_test

import (
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

const root = "../.."

func document(t *testing.T) *contract.Document {
	t.Helper()
	doc, err := contract.Load()
	acctest.Must(t, err)
	return doc
}

func TestPage_isCurrent(t *testing.T) {
	t.Parallel()
	record, err := evidence.ReadRecord("record.json")
	acctest.Must(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs/guides/evidence.md"))
	if err != nil || string(text) != evidence.Page(document(t), record) {
		t.Errorf("docs/guides/evidence.md is not up to date: run make assumptions (%v)", err)
	}
}

func TestRecord_add(t *testing.T) {
	t.Parallel()
	report := func(hour int, emulator bool, result evidence.Result) *evidence.Report {
		return &evidence.Report{
			Tool: "testacc", Version: "1.0.0", FinishedAt: time.Date(2026, 12, 3, hour, 0, 0, 0, time.UTC), Emulator: emulator,
			Assumptions: []evidence.Assumption{{ID: "list-computers", Result: result, Observed: "the older one came first"}, {ID: "gone", Result: result}},
			Operations:  []evidence.Operation{{ID: "inviteMember", Beyond: true, Statuses: map[string]int{"404": 1}}, {ID: "listSessionChildren", Beyond: true, Statuses: map[string]int{"200": 1}}},
		}
	}
	const refuted = "| refuted on 2026-12-03 (testacc 1.0.0): `the older one came first` |"
	record := evidence.Record{}
	if err := record.Add(report(1, true, evidence.Confirmed)); err == nil || len(record) > 0 {
		t.Errorf("a report of the emulator counts: %v, %v", err, record)
	}
	for _, step := range []struct {
		hour     int
		result   evidence.Result
		want     string
		wantHour int
	}{
		{3, evidence.Confirmed, "| confirmed on 2026-12-03 (testacc 1.0.0): `the older one came first` |", 3},
		{2, evidence.Confirmed, "| confirmed on 2026-12-03 (testacc 1.0.0): `the older one came first` |", 3},
		{1, evidence.Refuted, refuted, 1}, // An older report can show what a newer one did not try.
		{4, evidence.NotSeen, refuted, 1},
		{5, evidence.Confirmed, refuted, 1},
		{7, evidence.Refuted, refuted, 7},
		{6, evidence.Refuted, refuted, 7},
	} {
		acctest.Must(t, record.Add(report(step.hour, false, step.result)))
		if page := evidence.Page(document(t), record); !strings.Contains(page, step.want) {
			t.Errorf("hour %d: the page has no %q", step.hour, step.want)
		}
		if got := record["list-computers"].Time.Hour(); got != step.wantHour {
			t.Errorf("hour %d: the record has the result of hour %d, want %d", step.hour, got, step.wantHour)
		}
	}
	record.Prune(document(t))
	if len(record) != 2 || record["listSessionChildren"].Observed != "answered 200" {
		t.Errorf("got %v", record)
	}
	page := evidence.Page(document(t), record)
	if !strings.Contains(page, "A real service has confirmed 0 of them and refuted 1. The newest report is of 2026-12-03.") {
		t.Error(page[:600])
	}
}
