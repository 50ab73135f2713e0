package emulator

import (
	"net/http/httptest"
	"testing"
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
