package statuspage

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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
		check.Is(t, fmt.Sprint(tc), pages.Have(r), tc.want)
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, ":1": false, "0.0.0.0:1": false, "192.0.2.1:1": false, "host.example:1": false,
	} {
		check.Is(t, address+" is this machine", IsLoopback(address), want)
	}
	check.Is(t, "the texts", ShellText("/tmp/a-1/data.db.clock")+ShellText("/my data/it's"), `/tmp/a-1/data.db.clock'/my data/it'\''s'`)
}

// What failed is first, then the newest. The status page has the first rows only.
func TestFirstRows(t *testing.T) {
	t.Parallel()
	k := &Kind{}
	for i := range 17 {
		k.Rows = append(k.Rows, Row{Ref: Ref{ID: "x", Name: fmt.Sprintf("n%02d", i)}, State: "active", CreatedAt: int64(100 + i)})
	}
	k.Rows = append(k.Rows, Row{Ref: Ref{ID: "x", Name: "broken"}, State: "error"})
	k.finish()
	healthy := &Kind{}
	if kinds := firstRows([]*Kind{healthy, k}); kinds[0] != k {
		t.Error("what failed is not first")
	}
	var names []string
	for _, r := range k.Rows {
		names = append(names, r.Name)
	}
	check.Is(t, "the rows", fmt.Sprint(names, k.Rest, k.Total, k.Failed), "[broken n16 n15 n14 n13 n12 n11 n10 n09 n08] 8 18 1")
}

func TestImportOf(t *testing.T) {
	t.Parallel()
	for want, tc := range map[string]struct{ resource, name, id string }{
		"": {"", "a", "a"},
		"import {\n  to = agentyard_computer.ci_1\n  id = \"a\"\n}":                              {"agentyard_computer", "CI-1", "a"},
		"import {\n  to = agentyard_computer.this_1st\n  id = \"a\"\n}":                          {"agentyard_computer", "1st ä", "a"},
		"import {\n  to = agentyard_member_invitation.x\n  id = \"\\\"$${a}%%{b}\\\\\\\"@x\"\n}": {"agentyard_member_invitation", "x@y", `"${a}%{b}\"@x`},
	} {
		check.Is(t, fmt.Sprint(tc), importOf(tc.resource, &Row{Ref: Ref{ID: tc.id, Name: tc.name}}), want)
	}
}
