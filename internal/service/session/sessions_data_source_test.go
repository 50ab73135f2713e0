package session_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// readSessions reads the data source, and returns its sessions without nulls.
func readSessions(t *testing.T, e *acctest.Env, config acctest.Values) []any {
	t.Helper()
	read, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_sessions", config)
	out.MustSucceed(t)
	return plain(t, read["sessions"]).([]any)
}

func TestSessionsDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	mustEqual(t, readSessions(t, e, nil), []any{})
	here, there := newComputer(e, "here"), newComputer(e, "there")
	full, least, other := makeTalk(e, here, fullSettings), makeTalk(e, here, nil), makeTalk(e, there, nil)
	if status, answer := e.TryWithKey(somebody(t, e, emulator.RoleUser), http.MethodGet, sessionsRoute, nil); status != http.StatusOK || strings.Contains(string(answer), full.ID) {
		t.Fatalf("somebody else lists the sessions: %d %s", status, answer)
	}
	first, second := whileItChanges(t, e, full, here), asCreated(t, least, here)
	delete(first, "service_credits")
	delete(second, "service_credits")
	e.Clock.Advance(emulatedLag)
	acctest.Must(t, e.ChangeSession(other.ID, emulator.SessionChange{ComputerID: new("")}))
	mustEqual(t, readSessions(t, e, acctest.Values{"computer_id": here}), []any{second, first})
	mustEqual(t, readSessions(t, e, acctest.Values{"computer_id": there}), []any{})
	all := readSessions(t, e, nil)
	mustEqual(t, all[1:], []any{second, first})
	if onNone := all[0].(map[string]any); onNone["id"] != other.ID || onNone["computer_id"] != nil {
		t.Errorf("listed %v", onNone)
	}
	e.WantRequests(t, "getSession", 0)
}

// Only the required pages are requested, and identical queries share their pages.
func TestSessionsDataSource_requests(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 10 })
	computer := newComputer(e, "dev")
	var ids []string
	for range 25 {
		ids = append(ids, makeTalk(e, computer, nil).ID)
	}
	slices.Reverse(ids)
	for _, tc := range []struct {
		config       acctest.Values
		found, pages int
		limit        string
	}{
		{acctest.Values{"max_results": 1}, 1, 1, "limit=1"},
		{acctest.Values{"max_results": 11}, 11, 2, "limit=11"},
		{nil, 25, 3, "limit=100"},
		{acctest.Values{"computer_id": computer}, 25, 3, "limit=100"},
		{acctest.Values{"computer_id": "a b/../c?limit=1&"}, 0, 1, "limit=100"}, // The service knows no such computer.
	} {
		p := acctest.NewProcess(t, e, nil)
		e.Journal().Reset()
		for range 3 {
			read, out := p.ReadData("agentyard_sessions", tc.config)
			out.MustSucceed(t)
			var found []string
			for _, listed := range plain(t, read["sessions"]).([]any) {
				found = append(found, listed.(map[string]any)["id"].(string))
			}
			if !slices.Equal(found, ids[:tc.found]) {
				t.Errorf("%v: got %v, want %v", tc.config, found, ids[:tc.found])
			}
		}
		entries := e.Journal().Entries()
		if len(entries) != tc.pages || e.Journal().Count("listSessions") != tc.pages || !slices.Contains(strings.Split(entries[0].Query, "&"), tc.limit) {
			t.Errorf("%v: %d pages are wanted, of %s: %+v", tc.config, tc.pages, tc.limit, entries)
		}
	}
}

func TestSessionsDataSource_errors(t *testing.T) {
	t.Parallel()
	const cannot = "Cannot list sessions"
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	for range 5 {
		makeTalk(e, computer, nil)
	}
	fails := func(settings, config acctest.Values, at string, want ...string) {
		t.Helper()
		_, out := acctest.NewProcess(t, e, settings).ReadData("agentyard_sessions", config)
		out.MustFail(t, at, want...)
	}
	on := func(computer string) acctest.Values { return acctest.Values{"computer_id": computer} }
	e.Faults().Add(emulator.Fault{Operation: "listSessions", Kind: emulator.FaultStatusBeforeCommit, Status: 404})
	fails(nil, on(missing), "computer_id", cannot, "listSessions", "404", "computer was not found", "omit it")
	fails(nil, on(""), "computer_id", "computer_id must not be blank")
	fails(nil, on(" "), "computer_id", "computer_id must not be blank. Give the ID of a computer, or omit it")
	fails(nil, acctest.Values{"max_results": 0}, "max_results", "max_results value must be at least 1")
	e.Faults().Add(emulator.Fault{Operation: "listSessions", Kind: emulator.FaultRepeatedCursor, Times: -1})
	fails(nil, nil, "", cannot, "listSessions", "its cursor leads back")
	e.Faults().Clear()
	e.AllowSessions(false)
	fails(nil, nil, "", cannot, "403", "selected organizations")
}
