package emulator

import (
	"fmt"
	"testing"
	"time"
)

// What failed is first, then the newest. The status page has the first rows only.
func TestFirstRows(t *testing.T) {
	t.Parallel()
	k := &statusKind{}
	for i := range 17 {
		k.Rows = append(k.Rows, statusRow{objectRef: objectRef{Name: fmt.Sprintf("n%02d", i)}, State: "active", born: born{CreatedAt: int64(100 + i)}})
	}
	k.Rows = append(k.Rows, statusRow{objectRef: objectRef{Name: "broken"}, State: "error", Class: "bad"})
	k.finish()
	healthy := &statusKind{}
	if kinds := firstRows([]*statusKind{healthy, k}); kinds[0] != k {
		t.Error("what failed is not first")
	}
	var names []string
	for _, r := range k.Rows {
		names = append(names, r.Name)
	}
	if got := fmt.Sprint(names, k.Rest, k.Total, k.States); got != "[broken n16 n15 n14 n13 n12 n11 n10 n09 n08] 8 18 [{active  17} {error bad 1}]" {
		t.Error(got)
	}
}

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

func TestImportOf(t *testing.T) {
	t.Parallel()
	for want, tc := range map[string]struct{ resource, name, id string }{
		"": {"", "a", "a"},
		"import {\n  to = agentyard_computer.ci_1\n  id = \"a\"\n}":                              {"agentyard_computer", "CI-1", "a"},
		"import {\n  to = agentyard_computer.this_1st\n  id = \"a\"\n}":                          {"agentyard_computer", "1st ä", "a"},
		"import {\n  to = agentyard_computer.this\n  id = \"a\"\n}":                              {"agentyard_computer", "ß", "a"},
		"import {\n  to = agentyard_member_invitation.x\n  id = \"\\\"$${a}%%{b}\\\\\\\"@x\"\n}": {"agentyard_member_invitation", "x@y", `"${a}%{b}\"@x`},
	} {
		if got := importOf(tc.resource, &statusRow{objectRef: objectRef{ID: tc.id, Name: tc.name}}); got != want {
			t.Errorf("%+v: %s, want %s", tc, got, want)
		}
	}
}

func TestCreations_areOperations(t *testing.T) {
	t.Parallel()
	e := &Emulator{routes: allRoutes()}
	for _, name := range creations() {
		if !e.hasOperation(name) {
			t.Errorf("%s is no operation", name)
		}
	}
}

// A request has the same result on the page of an object as in the waterfall of its run.
func TestObjectRequestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		entry         Entry
		result, class string
	}{
		{Entry{Status: 200}, "200", requestOK},
		{Entry{Status: 404}, "404", requestFailed},
		{Entry{Status: 429, Fault: "rate-limited"}, "429, rate-limited", requestRejected},
		{Entry{Duration: time.Second}, "no response", requestFailed},
		{Entry{}, "running", requestRunning},
	} {
		if r := objectRequestOf(&tc.entry); r.Result != tc.result || r.Class != tc.class {
			t.Errorf("%+v: %q, %q", tc.entry, r.Result, r.Class)
		}
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 9_000_000: "9,000,000", 123_456_789: "123,456,789"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
