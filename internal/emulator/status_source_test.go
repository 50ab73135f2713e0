package emulator

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

func TestKeyRow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) int64 { return millis(now.Add(d)) }
	const day = 24 * time.Hour
	s := &statusObjects{request: &request{now: now}, owners: map[string]string{"sa_1": "ci"}}
	for name, tc := range map[string]struct {
		expires, revoked   int64
		state, badge, note string
	}{
		"for good":     {0, 0, "valid", "", ""},
		"far expiry":   {in(8 * day), 0, "valid", "", "expires in 8 d"},
		"near expiry":  {in(7 * day), 0, "valid", "expires in 7 d", ""},
		"expired":      {in(0), 0, "expired", "", ""},
		"grace period": {in(day), in(4 * time.Minute), "grace period", "revoked in 4 min", ""},
		"revoked":      {in(-day), in(0), "revoked", "", ""},
	} {
		row := s.keyRow("", &keyRecord{ID: "key_1", Hash: hashKey("fk-1"), OwnerKind: kindService, OwnerID: "sa_1", ExpiresAt: tc.expires, RevokedAt: tc.revoked})
		if row.State != tc.state || row.Badge != tc.badge || row.Note != tc.note {
			t.Errorf("%s: %q %q %q", name, row.State, row.Badge, row.Note)
		}
	}
}

func TestCreations_areOperations(t *testing.T) {
	t.Parallel()
	e := startInternal(t)
	for _, name := range statuspage.Creations {
		if !e.hasOperation(name) {
			t.Errorf("%s is no operation", name)
		}
	}
}

// A full journal does not make a page that no browser likes.
func TestAddRuns_fullJournal(t *testing.T) {
	t.Parallel()
	e := startInternal(t)
	for i := range maxJournal {
		x := Entry{Run: 1 + i/10000, Operation: "getComputer", Method: "GET", Path: fmt.Sprint("/api/v0/computers/", i%1000), Started: time.Now(), Duration: time.Millisecond, Status: 200}
		e.journal.begin(&x)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:5", "localhost"
	e.Handler().ServeHTTP(w, r)
	if runs := strings.Count(w.Body.String(), `<div class="run"`); runs != 8 || w.Body.Len() > 1<<20 {
		t.Errorf("%d runs in %d bytes", runs, w.Body.Len())
	}
	x := Entry{Run: 11}
	e.journal.begin(&x)
	if left := e.journal.Entries(); len(left) != maxJournal*9/10+1 || left[0].Run != 2 {
		t.Error("the oldest tenth is not forgotten, or more")
	}
}
