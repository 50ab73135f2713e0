package create

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestRecovered_isOneLineOfTheLogForEachObject(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx := tflogtest.RootLogger(t.Context(), &log)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	Recovered(ctx, Recovery{Objects: []wire.Ref{{Object: "computer", Name: "ci", ID: "c1", CreatedAt: at}, {Object: "computer", ID: "c2"}}})
	Recovered(ctx, Recovery{Objects: []wire.Ref{{Object: "API key", ID: "key_1"}}, AreRevoked: true})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), log.String())
	}
	for i, want := range [][]string{{"Found after a lost response", "computer", "ci", "c1", "2026-03-01T12:00:00Z"}, {"Found", "c2"}, {"Revoked", "API key", "key_1"}} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d lacks %q: %s", i+1, part, lines[i])
			}
		}
	}
}
