package create

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// What is found is a line of the log and, if it may be another run's, known to the caller.
func TestNoteFound(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, all := WithFound(tflogtest.RootLogger(t.Context(), &log))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	computer, key := Found{Ref: wire.Ref{Object: "computer", Name: "ci", ID: "c1", CreatedAt: at}}, Found{Ref: wire.Ref{Object: "API key", ID: "k2"}, Revoked: "f2"}
	NoteFound(ctx, &transport.Conn{}, computer)
	NoteFound(ctx, &transport.Conn{}, key)
	LogFound(ctx, "Revoked without its value", wire.Ref{Object: "API key", ID: "k3"})
	if len(*all) != 2 || (*all)[0] != computer || (*all)[1] != key {
		t.Errorf("known are %v", *all)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), log.String())
	}
	for i, want := range [][]string{{"Found after a lost response", "computer", "ci", "c1", "2026-03-01T12:00:00Z"}, {"Revoked without its value", "k2"}, {"Revoked", "k3"}} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d lacks %q: %s", i+1, part, lines[i])
			}
		}
	}
}

// Whatever waits for a listing waits until a new object is listed, also in a run that is stopping.
func TestLookAfterLoss_waitsUntilAllIsListed(t *testing.T) {
	t.Parallel()
	for _, wantsAll := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			stop()
			start := time.Now()
			found, err := LookAfterLoss(ctx, &transport.Conn{Clock: clock.System}, Search[int]{WantsAll: wantsAll, Look: func(context.Context) ([]int, error) {
				return make([]int, max(0, int(time.Since(start)-transport.ListedWithin)+1)), nil
			}})
			if err != nil || len(found) != 1 || time.Since(start) != transport.ListedWithin {
				t.Errorf("%d objects and %v after %v", len(found), err, time.Since(start))
			}
		})
	}
	// A listing that takes long has what there was at its beginning.
	synctest.Test(t, func(t *testing.T) {
		seen := 0
		slow := Search[int]{WantsAll: true, Look: func(context.Context) ([]int, error) {
			time.Sleep(transport.ListedWithin)
			seen++
			return make([]int, seen), nil
		}}
		if found, err := LookAfterLoss(t.Context(), &transport.Conn{Clock: clock.System}, slow); err != nil || len(found) != 2 {
			t.Errorf("%d looks, %v", len(found), err)
		}
	})
	if patience <= transport.ListedWithin {
		t.Errorf("a name that is taken has only %v to become free", patience)
	}
}

func TestSends_countsLostRequestsByTheirBody(t *testing.T) {
	t.Parallel()
	s := NewSends[thing](nil)
	for _, change := range []int{1, 1, -1} {
		s.placeOf("place").countLost("a", change)
	}
	if a, b, elsewhere := s.placeOf("place").countLost("a", 0), s.placeOf("place").countLost("b", 0), s.placeOf("other").countLost("a", 0); a != 1 || b != 0 || elsewhere != 0 {
		t.Errorf("%d, %d, and %d", a, b, elsewhere)
	}
}
