package serviceaccount_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The plan of a destruction lists the sessions of each of the account's computers once. It names those that the API key's owner
// can see, and nothing if the listing is refused.
func TestServiceAccount_destroyWarnsOfSessions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		config   acctest.Values // Nil destroys.
		refusal  int
		want     bool
		listings int
	}{
		"destroyed": {want: true, listings: 2},
		"replaced":  {config: acctest.Values{"name": "cd"}, want: true, listings: 2},
		"unchanged": {config: acctest.Values{"name": "ci"}},
		"refused":   {refusal: http.StatusForbidden, listings: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			_, i := e.Created(t, accountType, acctest.Values{"name": "ci"})
			var ids []string
			for _, name := range []string{"a", "b"} {
				var computer struct{ ID string }
				e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": name, "serviceAccountId": i.ID()}, &computer)
				ids = append(ids, computer.ID)
			}
			e.Clock.Advance(time.Hour)
			// The account's own sessions are not visible, so the session is the manager's, on the account's computer.
			var own struct{ ID string }
			e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "own"}, &own)
			e.Clock.Advance(time.Hour)
			var session struct{ SessionID string }
			e.API(http.MethodPost, "/api/v0/sessions", map[string]any{"computerId": own.ID}, &session)
			acctest.Must(t, e.ChangeSession(session.SessionID, emulator.SessionChange{Status: new("running"), ComputerID: &ids[1]}))
			e.Clock.Advance(time.Hour)
			if tc.refusal != 0 {
				e.Faults().Add(emulator.Fault{Operation: "listSessions", Kind: emulator.FaultStatusBeforeCommit, Status: tc.refusal, Times: -1})
			}
			e.Journal().Reset()
			out := e.Plan(t, i, tc.config)
			if len(out.Errors) > 0 {
				t.Fatal(out)
			}
			if text := out.WarningText(); strings.Contains(text, session.SessionID+" (running)") != tc.want || strings.Contains(text, "and its computers") != tc.want {
				t.Errorf("got %s", out)
			}
			e.WantRequests(t, "listSessions", tc.listings)
		})
	}
}
