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
	return acctest.WithoutNulls(e.MustRead(t, nil, "agentyard_sessions", config)["sessions"]).([]any)
}

func TestSessionsDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	mustEqual(t, readSessions(t, e, nil), []any{})
	here, there := newComputer(e, "here"), newComputer(e, "there")
	full, least, other := makeTalk(e, here, map[string]any{"model": "model-light"}), makeTalk(e, here, nil), makeTalk(e, there, nil)
	if status, answer := e.TryWithKey(somebody(t, e, emulator.RoleUser), http.MethodGet, sessionsRoute, nil); status != http.StatusOK || strings.Contains(string(answer), full.ID) {
		t.Fatalf("somebody else lists the sessions: %d %s", status, answer)
	}
	whileItChanges(t, e, full)
	e.Clock.Advance(emulatedLag)
	acctest.Must(t, e.ChangeSession(other.ID, emulator.SessionChange{ComputerID: new("")}))
	first, second := readSession(t, e, nil, acctest.Values{"id": full.ID}), readSession(t, e, nil, acctest.Values{"id": least.ID})
	delete(first, "service_credits")
	delete(second, "service_credits")
	e.Journal().Reset()
	mustEqual(t, readSessions(t, e, acctest.Values{"computer_id": here}), []any{second, first})
	mustEqual(t, readSessions(t, e, acctest.Values{"computer_id": there}), []any{})
	all := readSessions(t, e, nil)
	mustEqual(t, all[1:], []any{second, first})
	if onNone := all[0].(map[string]any); onNone["id"] != other.ID || onNone["computer_id"] != nil {
		t.Errorf("listed %v", onNone)
	}
	e.WantRequests(t, "getSession", 0)
}

// Only the required pages are requested.
func TestSessionsDataSource_requests(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 10 })
	computer := newComputer(e, "dev")
	for range 25 {
		makeTalk(e, computer, nil)
	}
	for _, tc := range []struct {
		config       acctest.Values
		found, pages int
		limit        string
	}{
		{acctest.Values{"max_results": 11}, 11, 2, "limit=11"},
		{acctest.Values{"computer_id": computer}, 25, 3, "limit=100"},
		{acctest.Values{"computer_id": "a b/../c?limit=1&"}, 0, 1, "limit=100"}, // The service knows no such computer.
	} {
		e.Journal().Reset()
		found := readSessions(t, e, tc.config)
		if entries := e.Journal().Entries(); len(found) != tc.found || len(entries) != tc.pages || !slices.Contains(strings.Split(entries[0].Query, "&"), tc.limit) {
			t.Errorf("%v: %d sessions: %+v", tc.config, len(found), entries)
		}
	}
}

func TestSessionsDataSource_errors(t *testing.T) {
	t.Parallel()
	const cannot = "Cannot list sessions"
	e := acctest.New(t)
	fails := func(config acctest.Values, at string, want ...string) {
		t.Helper()
		e.MustNotRead(t, nil, "agentyard_sessions", config, at, want...)
	}
	on := func(computer string) acctest.Values { return acctest.Values{"computer_id": computer} }
	e.Faults().Add(emulator.Fault{Operation: "listSessions", Kind: emulator.FaultStatusBeforeCommit, Status: 404})
	fails(on(missing), "computer_id", cannot, "listSessions", "404", "computer was not found", "omit it")
	fails(on(" "), "computer_id", "computer_id must not be blank. Give the ID of a computer, or omit it")
	fails(acctest.Values{"max_results": 0}, "max_results", "max_results must be at least 1, not 0.")
	e.AllowSessions(false)
	fails(nil, "", cannot, "403", "selected organizations")
}
