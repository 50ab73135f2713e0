package statuspage

import (
	"net/http/httptest"
	"testing"
)

// nothing is a source that no test reads.
type nothing struct{ Source }

// Pages need no key, so another machine, or a website with a name that points here, must not read them.
func TestPages_have(t *testing.T) {
	t.Parallel()
	pages := New(nothing{})
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
		{"GET", "/objects/computers", "127.0.0.1:5", "127.0.0.1:8787", true},
		{"HEAD", "/objects/computers/a", "[::1]:5", "localhost:8787", true},
		{"POST", "/objects/computers", "127.0.0.1:5", "127.0.0.1:8787", false},
		{"GET", "/objects/computers", "192.0.2.1:5", "127.0.0.1:8787", false},
		{"GET", "/runs/1", "127.0.0.1:5", "localhost", true},
		{"GET", "/runs/1", "127.0.0.1:5", "rebound.example:8787", false},
		{"GET", "/status/objects.css", "127.0.0.1:5", "localhost", true},
		{"GET", "/status/actions.js", "127.0.0.1:5", "rebound.example", false},
		{"GET", "/status/version", "127.0.0.1:5", "localhost", true},
		{"GET", "/status/version", "192.0.2.1:5", "localhost", false},
		{"GET", "/status", "127.0.0.1:5", "localhost", false},
		{"GET", "//api/v0/computers", "127.0.0.1:5", "localhost", false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil)
		r.RemoteAddr, r.Host = tc.from, tc.host
		if got := pages.Have(r); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, ":1": false, "0.0.0.0:1": false, "192.0.2.1:1": false, "host.example:1": false,
	} {
		if IsLoopback(address) != want {
			t.Errorf("%q: %v", address, !want)
		}
	}
	if got := ShellText("/tmp/a-1/data.db.clock") + ShellText("/my data/it's"); got != `/tmp/a-1/data.db.clock'/my data/it'\''s'` {
		t.Error(got)
	}
}
