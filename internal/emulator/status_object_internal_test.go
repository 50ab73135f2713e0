package emulator

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// computerOf is the row of a computer; fleet is the name prefix of its fleet, or empty.
func computerOf(name, state, fleet string, created int64) statusRow {
	row := statusRow{objectRef: objectRef{objectComputers, "id-" + name, name}, State: state, Class: stateClasses[state], Owner: "ci", born: born{CreatedAt: created}}
	if fleet != "" {
		row.relate("Fleet", objectRef{objectFleets, "sa_1/" + fleet, fleet + "-*"})
	}
	return row
}

func namesOf(rows []statusRow) string {
	var names []string
	for _, r := range rows {
		name := r.Name
		if r.MemberCount > 0 {
			name = fmt.Sprintf("%s(%d)", name, r.MemberCount)
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestStatusKind_finish(t *testing.T) {
	t.Parallel()
	many := []statusRow{computerOf("broken", "error", "", 1)}
	for i := range 17 {
		many = append(many, computerOf(fmt.Sprintf("n%02d", i), "active", "", int64(100+i)))
	}
	k := &statusKind{all: many}
	k.finish(groupFleets)
	if got, want := namesOf(k.Rows), "broken n16 n15 n14 n13 n12 n11 n10 n09 n08"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if got, want := namesOf(k.More), "n07 n06 n05 n04 n03 n02 n01 n00"; got != want || k.Rest != 0 || k.Total != 18 {
		t.Errorf("more %s, want %s; rest %d, total %d", got, want, k.Rest, k.Total)
	}
	if got, want := fmt.Sprint(k.States), "[{active  17} {error bad 1}]"; got != want {
		t.Errorf("states %s, want %s", got, want)
	}

	for i := range 200 {
		many = append(many, computerOf(fmt.Sprintf("m%03d", i), "active", "", 1000))
	}
	k = &statusKind{all: many}
	k.finish(groupFleets)
	if len(k.Rows) != statusRows || len(k.More) != 0 || k.Rest != 208 {
		t.Errorf("%d rows, %d more, rest %d", len(k.Rows), len(k.More), k.Rest)
	}
}

func TestGroupFleets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rows []statusRow
		want string
	}{
		"none":                     {[]statusRow{computerOf("ci-1", "active", "", 1), computerOf("ci-2", "active", "", 1)}, "ci-1 ci-2"},
		"one computer is no group": {[]statusRow{computerOf("ci-1", "active", "ci", 1), computerOf("dev", "active", "", 2)}, "ci-1 dev"},
		"two fleets and others": {[]statusRow{
			computerOf("ci-1", "active", "ci", 1), computerOf("dev", "active", "", 2), computerOf("web-1", "active", "web", 3), computerOf("ci-2", "active", "ci", 4), computerOf("web-2", "active", "web", 3),
		}, "ci-*(2) dev web-*(2)"},
		"a name alone is no fleet": {[]statusRow{computerOf("ci-1", "active", "ci", 1), computerOf("ci-2", "active", "ci", 1), computerOf("ci-3", "active", "", 1)}, "ci-*(2) ci-3"},
	} {
		if got := namesOf(groupFleets(tc.rows)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	fleet := groupFleets([]statusRow{computerOf("ci-1", "active", "ci", 1), computerOf("ci-2", "error", "ci", 9), computerOf("ci-3", "active", "ci", 2)})[0]
	if fleet.Class != "bad" || fleet.CreatedAt != 9 || namesOf(fleet.Members) != "ci-2 ci-3 ci-1" || fmt.Sprint(fleet.Counts) != "[{active  2} {error bad 1}]" {
		t.Errorf("%+v", fleet)
	}
}

// A fleet is what a bulk creation made, while it is named so.
func TestComputerRow_fleet(t *testing.T) {
	t.Parallel()
	s := &statusObjects{request: &request{}, owners: map[string]objectRef{"sa_1": {objectAccounts, "sa_1", "ci"}}}
	for _, tc := range []struct {
		name, prefix string
		want         bool
	}{
		{"ci-1", "ci", true},
		{"ci-1", "", false},
		{"renamed", "ci", false},
		{"ci-", "ci", false},
		{"ci-1a", "ci", false},
		{"ci-web-1", "ci", false},
		{"ci-web-1", "ci-web", true},
	} {
		row := s.computerRow("id", &computer{Name: tc.name, FleetPrefix: tc.prefix, ProviderType: providerBYOM, OwnerID: "sa_1"})
		if fleet, ok := row.fleet(); ok != tc.want || ok && fleet.ID != "sa_1/"+tc.prefix {
			t.Errorf("%+v: %v %+v", tc, ok, fleet)
		}
	}
}

func TestKeyRow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) int64 { return millis(now.Add(d)) }
	const day = 24 * time.Hour
	s := &statusObjects{request: &request{now: now}, owners: map[string]objectRef{"sa_1": {objectAccounts, "sa_1", "ci"}}}
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
		row := s.keyRow("", &keyRecord{ID: "key_1", OwnerKind: kindService, OwnerID: "sa_1", ExpiresAt: tc.expires, RevokedAt: tc.revoked})
		if row.State != tc.state || row.Badge != tc.badge || row.Note != tc.note {
			t.Errorf("%s: %q %q %q", name, row.State, row.Badge, row.Note)
		}
	}
}

func TestImportBlock(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		block importBlock
		want  string
	}{
		{importBlock{}, ""},
		{importBlock{"agentyard_computer", "CI-1", "a"}, "import {\n  to = agentyard_computer.ci_1\n  id = \"a\"\n}"},
		{importBlock{"agentyard_computer", "1st ä", "a"}, "import {\n  to = agentyard_computer.this_1st\n  id = \"a\"\n}"},
		{importBlock{"agentyard_computer", "ß", "a"}, "import {\n  to = agentyard_computer.this\n  id = \"a\"\n}"},
		{importBlock{"agentyard_member_invitation", "x", `"${a}%{b}\"@x`}, "import {\n  to = agentyard_member_invitation.x\n  id = \"\\\"$${a}%%{b}\\\\\\\"@x\"\n}"},
	} {
		if got := tc.block.String(); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.block, got, tc.want)
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

func TestEntry_names(t *testing.T) {
	t.Parallel()
	one := Entry{Route: "/api/v0/computers/{computerId}/restart", Path: "/api/v0/computers/ABC/restart", Query: "computerId=x%40y"}
	for name, want := range map[string]bool{"abc": true, "x@y": true, "computers": false, "restart": false, "ab": false, "": false} {
		if got := one.names([]string{"other", name}); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	address := Entry{Route: "/api/v0/wiki/history/{repoUrl}", Path: "/api/v0/wiki/history/https://code.example/acme/api"}
	if !address.names([]string{"https://code.example/acme/api"}) || address.names([]string{"acme"}) {
		t.Error("an address in a path is one parameter")
	}
	unknown := Entry{Path: "/abc"}
	if unknown.names([]string{"abc"}) {
		t.Error("a request that matches no operation names nothing")
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
