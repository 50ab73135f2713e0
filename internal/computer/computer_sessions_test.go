package computer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const busySummary = "Destroys Computers With Running or Pending Sessions"

// newSession creates a session with a status on a computer and returns its ID.
func newSession(t *testing.T, e *acctest.Env, computer, status string) string {
	t.Helper()
	var made struct{ SessionID string }
	e.API(http.MethodPost, "/api/v0/sessions", map[string]any{"computerId": computer}, &made)
	acctest.Must(t, e.ChangeSession(made.SessionID, emulator.SessionChange{Status: &status, Title: new("Do " + status)}))
	e.Clock.Advance(time.Hour) // Listings show changes late.
	return made.SessionID
}

func busyWarning(out acctest.Outcome) string {
	text := ""
	for _, w := range out.Warnings {
		if w.Summary == busySummary {
			text += w.Detail
		}
	}
	return text
}

func TestComputer_destroyWarnsOfItsSessions(t *testing.T) {
	t.Parallel()
	config := acctest.Values{"name": "c"}
	replacing := acctest.Values{"name": "c", "auto_install_deps": true}
	for name, tc := range map[string]struct {
		statuses []string
		config   acctest.Values // Nil destroys.
		refusal  int
		want     string // What the sessions have in the warning; empty for none.
		listings int
	}{
		"no session":       {listings: 1},
		"idle":             {statuses: []string{"idle"}, listings: 1},
		"running":          {statuses: []string{"idle", "running"}, want: `("Do running", running)`, listings: 1},
		"pending":          {statuses: []string{"pending"}, want: `("Do pending", pending)`, listings: 1},
		"many":             {statuses: strings.Fields(strings.Repeat("running ", 12)), want: "and 2 more", listings: 1},
		"replaced":         {statuses: []string{"running"}, config: replacing, want: "running", listings: 1},
		"unchanged":        {statuses: []string{"running"}, config: config},
		"renamed":          {statuses: []string{"running"}, config: acctest.Values{"name": "d"}},
		"cannot be listed": {statuses: []string{"running"}, refusal: http.StatusForbidden, listings: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 0 })
			_, i := e.Created(t, computerType, config)
			last := ""
			for _, status := range tc.statuses {
				last = newSession(t, e, i.ID(), status)
			}
			if tc.refusal != 0 {
				refuse(e, "listSessions", tc.refusal, -1)
			}
			e.Journal().Reset()
			out := e.Plan(t, i, tc.config)
			if len(out.Errors) > 0 {
				t.Fatal(out)
			}
			text := busyWarning(out)
			if (text == "") != (tc.want == "") || len(out.Warnings) > 1 {
				t.Errorf("got %s", out)
			}
			if tc.want != "" {
				acctest.Says(t, text, fmt.Sprintf(`The plan destroys computer "c" (%s).`, i.ID()), last, tc.want, "do not apply yet")
			}
			if strings.Contains(text, "idle") {
				t.Errorf("an idle session is named: %s", text)
			}
			e.WantRequests(t, "listSessions", tc.listings)
		})
	}
}

// The creation fails, so the computer is tainted. If it were protected, it could not be replaced.
func TestComputer_aFailedCreationIsNotProtected(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "a")
	i := e.NewInstance(t, computerType)
	config := acctest.Values{"name": "a", "deletion_protection": true}
	if out := e.Apply(t, i, config); len(out.Errors) == 0 || !i.Tainted {
		t.Fatal(out)
	}
	e.Apply(t, i, config).MustDo(t, acctest.ActionReplace)
	if out := e.Plan(t, i, nil); len(out.Errors) != 1 {
		t.Errorf("the new computer is not protected: %s", out)
	}
}

// A protected computer is not replaced without being asked.
func TestComputer_aProtectedFailureIsKept(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "a")
	config := acctest.Values{"name": "a", "wait_for_active": false, "deletion_protection": true}
	_, i := e.Created(t, computerType, config)
	e.Clock.Advance(provisioned)
	out := e.Plan(t, i, config)
	out.MustDo(t, acctest.ActionNone)
	acctest.Says(t, out.WarningText(), `has the status "error"`)
}

func TestFleet_warnsOfSessionsOnWhatItDeletes(t *testing.T) {
	t.Parallel()
	fleet := func(prefix string, quantity int) acctest.Values {
		return acctest.Values{"name_prefix": prefix, "quantity": quantity, "wait_for_active": false, "deletion_protection": false}
	}
	for name, tc := range map[string]struct {
		config   acctest.Values
		want     []int // The numbers of the computers whose sessions are named.
		listings int
	}{
		"destroyed":   {nil, []int{1, 3}, 3},
		"replaced":    {fleet("g", 1), []int{1, 3}, 3},
		"scaled down": {fleet("f", 1), []int{3}, 2},
		"scaled up":   {fleet("f", 4), nil, 0},
		"unchanged":   {fleet("f", 3), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			_, i := e.Created(t, fleetType, fleet("f", 3))
			e.Clock.Advance(provisioned)
			ids := map[int]string{}
			for _, c := range computers(e) {
				for number := range 4 {
					if c.Name == fmt.Sprint("f-", number) && number != 2 {
						ids[number] = newSession(t, e, c.ID, "running")
					}
				}
			}
			e.Journal().Reset()
			out := e.Plan(t, i, tc.config)
			if len(out.Errors) > 0 {
				t.Fatal(out)
			}
			text := busyWarning(out)
			if (text == "") != (len(tc.want) == 0) || strings.Count(text, "running)") != len(tc.want) {
				t.Errorf("got %s", out)
			}
			for _, number := range tc.want {
				acctest.Says(t, text, "computers of the fleet f.", ids[number])
			}
			e.WantRequests(t, "listSessions", tc.listings)
		})
	}
}

// Deletion protection is about the fleet as a whole.
func TestFleet_protectedFleetScalesDown(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"name_prefix": "f", "quantity": 3, "wait_for_active": false, "deletion_protection": true}
	_, i := e.Created(t, fleetType, config)
	e.Clock.Advance(provisioned)
	config["quantity"] = 1
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if names := computerNames(e); len(names) != 1 {
		t.Errorf("the computers are %v", names)
	}
}
