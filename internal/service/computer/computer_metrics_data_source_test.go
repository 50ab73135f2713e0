package computer_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const metricsType = "agentyard_computer_metrics"

func TestComputerMetrics(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	samples := func(start any) []any {
		return e.MustRead(t, nil, metricsType, acctest.Values{"computer_id": c.ID, "start": start})["samples"].([]any)
	}
	acctest.Is(t, "before the first sample", samples(nil), []any{})
	e.Clock.Advance(19*time.Minute + 30*time.Second)
	got := samples(nil)
	if len(got) != 3 {
		t.Fatalf("the samples are %v", got)
	}
	first := got[0].(map[string]any)
	for _, name := range []string{"cpu_used_pct", "mem_used", "disk_used"} {
		if _, isNumber := first[name].(float64); !isNumber {
			t.Errorf("%s is %v", name, first[name])
		}
		delete(first, name)
	}
	acctest.Is(t, "the first sample", first, map[string]any{"timestamp": "2026-03-01T12:05:00Z", "cpu_count": 4.0, "mem_total": float64(8 << 30), "disk_total": float64(64 << 30)})
	// The same time in another time zone.
	if got := samples("2026-03-01T14:15:00+02:00"); len(got) != 1 {
		t.Errorf("the samples are %v", got)
	}
	acctest.Is(t, "of tomorrow", samples("2026-03-02T12:00:00Z"), []any{})
}

func TestComputerMetrics_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	own := makeComputer(e, ownMachine("own"))
	for id, want := range map[string][]string{
		own.ID: {"Cannot read metrics of the computer", "getComputerMetrics", "not supported for BYOM", "must be a managed computer and active"},
		nobody: {"Cannot read metrics of the computer", "No computer with the ID"},
	} {
		e.MustNotRead(t, nil, metricsType, acctest.Values{"computer_id": id}, "computer_id", want...)
	}
}
