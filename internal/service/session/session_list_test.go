package session_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A listed session has what the data source reads, except for what the resource does not have.
func TestSessionList(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	here, there := newComputer(e, "here"), newComputer(e, "there")
	full, least, other := makeTalk(e, here, map[string]any{"model": "model-light"}), makeTalk(e, here, nil), makeTalk(e, there, nil)
	whileItChanges(t, e, full)
	e.Clock.Advance(emulatedLag)
	for _, tc := range []struct {
		config      acctest.Values
		want, names []string
	}{
		{nil, []string{other.ID, least.ID, full.ID}, []string{other.ID, least.ID, "Fix the\nlogin"}},
		{acctest.Values{"computer_id": here}, []string{least.ID, full.ID}, []string{least.ID, "Fix the\nlogin"}},
	} {
		p := acctest.NewProcess(t, e, nil)
		e.Journal().Reset()
		listed, out := p.List(sessionType, tc.config)
		out.MustSucceed(t)
		if n := len(e.Journal().Entries()); n != e.Journal().Count("listSessions") {
			t.Errorf("a query sent more than listings: %+v", e.Journal().Entries())
		}
		var ids []string
		for _, one := range listed {
			session := plain(t, one).(map[string]any)
			ids = append(ids, session["id"].(string))
			want := readSession(t, e, nil, acctest.Values{"id": session["id"]})
			delete(want, "updated_at")
			delete(want, "service_credits")
			mustEqual(t, session, want)
		}
		if !slices.Equal(ids, tc.want) || !slices.Equal(p.Names, tc.names) {
			t.Errorf("%v lists %v with the names %q, want %v", tc.config, ids, p.Names, tc.want)
		}
	}
	for _, blank := range []string{"", " "} {
		_, out := acctest.NewProcess(t, e, nil).List(sessionType, acctest.Values{"computer_id": blank})
		acctest.Says(t, out.Text(), "must not be blank. Set the ID of a computer, or omit it")
	}
	e.AllowSessions(false)
	_, out := acctest.NewProcess(t, e, nil).List(sessionType, nil)
	acctest.Says(t, out.Text(), "Cannot list sessions", "403", "selected organizations")
}

// A session may have no computer, but a resource always has one: the configured computer is adopted.
func TestSession_importedFromNoComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	id, nowhere := newSession(e, computer, nil), ""
	changed(t, e, id, emulator.SessionChange{ComputerID: &nowhere})
	i, out := imported(t, e, id)
	out.MustSucceed(t)
	e.MustApply(t, i, valuesOf(computer, nil))
	mustPlan(t, e, i, valuesOf(computer, nil), acctest.ActionNone)
	for _, entry := range e.Journal().Entries() {
		if entry.Method == http.MethodDelete || i.ID() != id {
			t.Errorf("%s was sent, and the state holds %s", entry.Operation, i.ID())
		}
	}
}
