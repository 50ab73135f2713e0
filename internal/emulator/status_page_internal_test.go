package emulator

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The page needs no key, so another machine, or a website with a name that points here, must not read it.
func TestIsStatusPage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		method, path, from, host string
		want                     bool
	}{
		{"GET", "/", "127.0.0.1:5", "127.0.0.1:8787", true},
		{"HEAD", "/", "127.0.0.1:5", "localhost:8787", true},
		{"GET", "/?x", "[::1]:5", "[::1]:8787", true},
		{"GET", "/", "127.0.0.1:5", "localhost", true},
		{"POST", "/", "127.0.0.1:5", "127.0.0.1:8787", false},
		{"GET", "/x", "127.0.0.1:5", "127.0.0.1:8787", false},
		{"GET", "/", "192.0.2.1:5", "127.0.0.1:8787", false},
		{"GET", "/", "127.0.0.1:5", "192.0.2.1:8787", false},
		{"GET", "/", "127.0.0.1:5", "rebound.example:8787", false},
		{"GET", "/", "127.0.0.1:5", "127.0.0.1.rebound.example", false},
		{"GET", "/", "127.0.0.1:5", "", false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil)
		r.RemoteAddr, r.Host = tc.from, tc.host
		if got := isStatusPage(r); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestStatusRequestOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const operation = "createComputer"
	for name, tc := range map[string]struct {
		entry                       Entry
		what, result, class, lasted string
	}{
		"success":   {Entry{Operation: operation, Status: 201, Duration: 2500 * time.Millisecond}, operation, "201", "", "2 s"},
		"refusal":   {Entry{Operation: operation, Status: 400, Duration: 12 * time.Millisecond}, operation, "400", "warn", "12 ms"},
		"failure":   {Entry{Operation: operation, Status: 500, Duration: time.Microsecond}, operation, "500", "bad", "<1 ms"},
		"dropped":   {Entry{Operation: operation, Duration: time.Minute}, operation, "dropped", "bad", "1 min"},
		"under way": {Entry{Operation: operation}, operation, "running", "", ""},
		"long path": {Entry{Method: "GET", Path: strings.Repeat("ä", 300), Status: 404}, "GET " + strings.Repeat("ä", 196) + "…", "404", "warn", "<1 ms"},
	} {
		tc.entry.Time = now.Add(-90 * time.Minute)
		got := statusRequestOf(tc.entry, now)
		want := statusRequest{What: tc.what, Result: tc.result, Class: tc.class, Duration: tc.lasted, At: statusTime{"2026-05-01T10:30:00Z", "1 h ago"}}
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
