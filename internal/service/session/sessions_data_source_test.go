package session_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func sessionsData(arguments string) string {
	return "data \"agentyard_sessions\" \"x\" {\n" + arguments + "\n}\n"
}

// listsIDs checks which sessions are read, in this order.
func listsIDs(ids ...string) []statecheck.StateCheck {
	checks := []knownvalue.Check{}
	for _, id := range ids {
		checks = append(checks, knownvalue.ObjectPartial(attributes{"id": exactly(id)}))
	}
	return shows("data.agentyard_sessions.x", attributes{"sessions": knownvalue.ListExact(checks)})
}

func TestAccSessionsDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	const x = "data.agentyard_sessions.x"
	e := acctest.New(t)
	e.Run(t, reads(e.Config(sessionsData("")), shows(x, attributes{"sessions": knownvalue.ListExact(nil), "computer_id": nothing, "max_results": nothing})...))

	here, there := newComputer(e, "here"), newComputer(e, "there")
	full, least, other := makeTalk(e, here, fullSettings), makeTalk(e, here, nil), makeTalk(e, there, nil)
	if status, answer := e.TryWithKey(somebody(t, e, emulator.RoleUser), http.MethodGet, sessionsRoute, nil); status != http.StatusOK || strings.Contains(string(answer), full.ID) {
		t.Fatalf("somebody else lists the sessions: %d %s", status, answer)
	}
	first := whileItChanges(t, e, full, here, fullSettingsAre)
	e.Clock.Advance(emulatedLag)
	first["service_credits"] = nothing
	acctest.Must(t, e.ChangeSession(other.ID, emulator.SessionChange{ComputerID: new("")}))
	second := attributes{
		"id": exactly(least.ID), "parent_session_id": nothing, "title": nothing, "status": exactly("idle"), "message_count": knownvalue.Int64Exact(0), "created_at": atMillis(least.CreatedAt),
		"updated_at": atMillis(least.CreatedAt), "completed_at": nothing, "computer_id": exactly(here), "session_settings": usualSettingsAre, "service_credits": nothing,
	}
	ofHere := []knownvalue.Check{knownvalue.ObjectExact(second), knownvalue.ObjectExact(first)}
	onNone := knownvalue.ObjectPartial(attributes{"id": exactly(other.ID), "computer_id": nothing})
	e.Run(t,
		reads(e.Config(sessionsData(fmt.Sprintf("computer_id = %q", here))), shows(x, attributes{"sessions": knownvalue.ListExact(ofHere), "computer_id": exactly(here)})...),
		reads(e.Config(sessionsData("")), shows(x, attributes{"sessions": knownvalue.ListExact(append([]knownvalue.Check{onNone}, ofHere...))})...),
		reads(e.Config(sessionsData(fmt.Sprintf("computer_id = %q", there))), listsIDs()...),
	)
	for _, entry := range e.Journal().Entries() {
		if entry.Operation == "getSession" {
			t.Error("a listing sent a read of its own")
		}
	}
}

// Only the required pages are requested, and identical queries share their pages.
func TestAccSessionsDataSource_requests(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, atOnce, func(o *emulator.Options) { o.MaxPageSize = 10 })
	computer := newComputer(e, "dev")
	for range 25 {
		makeTalk(e, computer, nil)
	}
	many := func(arguments string) string {
		return "data \"agentyard_sessions\" \"x\" {\n  count = 20\n" + arguments + "\n}\noutput \"n\" {\n  value = distinct([for x in data.agentyard_sessions.x : length(x.sessions)])\n}\n"
	}
	cli := acctest.NewCLI(t, e, "")
	for _, tc := range []struct {
		arguments    string
		found, pages int
		limit        string
	}{
		{"max_results = 1", 1, 1, "limit=1"},
		{"max_results = 10", 10, 1, "limit=10"},
		{"max_results = 11", 11, 2, "limit=11"},
		{"max_results = 25", 25, 3, "limit=25"},
		{"", 25, 3, "limit=100"},
		{fmt.Sprintf("computer_id = %q", computer), 25, 3, "limit=100"},
	} {
		cli.Write("main.tf", many(tc.arguments))
		e.Journal().Reset()
		r := cli.MustRun("plan", "-input=false")
		if want := fmt.Sprintf("n = [ + %d, ]", tc.found); !strings.Contains(acctest.OneLine(r.Output), want) {
			t.Errorf("%s: the plan lacks %q: %s", tc.arguments, want, r.Output)
		}
		entries := e.Journal().Entries()
		if len(entries) != tc.pages || e.Journal().Count("listSessions") != tc.pages || !slices.Contains(strings.Split(entries[0].Query, "&"), tc.limit) {
			t.Errorf("%s: %d pages are wanted, of %s: %+v", tc.arguments, tc.pages, tc.limit, entries)
		}
	}
}

// A computer that is created in the same apply has no sessions. Until then, they are unknown.
func TestAccSessionsDataSource_computerOfTheSameApply(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeTalk(e, newComputer(e, "dev"), nil)
	e.Run(t, reads(e.Config("resource \"agentyard_computer\" \"new\" {\n  name = \"new\"\n}\n"+sessionsData("computer_id = agentyard_computer.new.id")), listsIDs()...))
}

func TestSessionsDataSource_manyPages(t *testing.T) {
	t.Parallel()
	const total = 105
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	var ids []string
	for range total {
		ids = append(ids, makeTalk(e, computer, nil).ID)
	}
	slices.Reverse(ids)
	mustListSessions(t, e, nil, ids...)
	mustListSessions(t, e, acctest.Values{"computer_id": computer, "max_results": total - 1}, ids[:total-1]...)
	mustListSessions(t, e, acctest.Values{"computer_id": "a b/../c?limit=1&"}) // The service knows no such computer.
	for _, entry := range e.Journal().Entries() {
		if entry.Operation == "listSessions" && !strings.Contains(entry.Query, "limit=100") {
			t.Errorf("a page was asked for with %s", entry.Query)
		}
	}
}

// mustListSessions reads the data source, and fails the test unless it lists these sessions in this order.
func mustListSessions(t *testing.T, e *acctest.Env, config acctest.Values, want ...string) {
	t.Helper()
	read, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_sessions", config)
	out.MustSucceed(t)
	var ids []string
	for _, listed := range plain(t, read["sessions"]).([]any) {
		ids = append(ids, listed.(map[string]any)["id"].(string))
	}
	if !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
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
	fails(acctest.Values{"api_key": "fk-wrong"}, nil, "", cannot, "401", "AGENTYARD_API_KEY")
	for want, fault := range map[string]emulator.Fault{
		"500":                           {Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: 1},
		"its cursor leads back":         {Kind: emulator.FaultRepeatedCursor},
		"not JSON":                      {Kind: emulator.FaultNonJSON, After: 1},
		"not in the service's format":   {Kind: emulator.FaultOtherServer, Status: 404},
		"the field sessions is missing": {Kind: emulator.FaultOtherResponse, Body: `{"pagination":{"hasMore":false,"nextCursor":null}}`},
		"the field status is missing":   {Kind: emulator.FaultOtherResponse, Body: `{"sessions":[{"sessionId":"s1"}],"pagination":{"hasMore":false,"nextCursor":null}}`},
	} {
		fault.Operation, fault.Times = "listSessions", -1
		e.Faults().Add(fault)
		fails(nil, nil, "", cannot, "listSessions", want)
		e.Faults().Clear()
	}
	e.AllowSessions(false)
	fails(nil, nil, "", cannot, "403", "selected organizations")
}
