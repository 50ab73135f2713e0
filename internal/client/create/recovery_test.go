package create

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestLogFound_isOneLineOfTheLogForEachObject(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx := tflogtest.RootLogger(t.Context(), &log)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	LogFound(ctx, "Found", wire.Ref{Object: "computer", Name: "ci", ID: "c1", CreatedAt: at}, wire.Ref{Object: "computer", ID: "c2"})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), log.String())
	}
	for i, want := range [][]string{{"Found after a lost response", "computer", "ci", "c1", "2026-03-01T12:00:00Z"}, {"Found", "c2"}} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d lacks %q: %s", i+1, part, lines[i])
			}
		}
	}
}
