package session_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// talk is the create response of a session that was created outside Terraform.
type talk struct {
	ID        string `json:"sessionId"`
	CreatedAt int64
}

// emulatedLag is longer than a new or changed session takes to appear in every response.
const emulatedLag = 10 * time.Second

// makeTalk creates a session outside Terraform. If the clock can be moved, the session appears in every response.
func makeTalk(e *acctest.Env, computer string, settings map[string]any) talk {
	var made talk
	body := map[string]any{"computerId": computer}
	if settings != nil {
		body["sessionSettings"] = settings
	}
	e.API(http.MethodPost, sessionsRoute, body, &made)
	if e.Clock != nil {
		e.Clock.Advance(emulatedLag)
	}
	return made
}

// atMillis returns a time that the service returns in milliseconds.
func atMillis(millis int64) string { return time.UnixMilli(millis).UTC().Format(time.RFC3339Nano) }

func mustEqual(t *testing.T, got, want any) {
	t.Helper()
	if got, want := encoded(t, got), encoded(t, want); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// readSession reads the data source, and returns its attributes without nulls.
func readSession(t *testing.T, e *acctest.Env, settings, config acctest.Values) map[string]any {
	t.Helper()
	return acctest.WithoutNulls(e.MustRead(t, settings, sessionType, config)).(map[string]any)
}

// somebody adds a human and returns their API key.
func somebody(t *testing.T, e *acctest.Env, role string) string {
	t.Helper()
	return e.MemberKey(uuid.NewString()+"@people.example", role)
}

// whileItChanges lets an agent work in a session.
func whileItChanges(t *testing.T, e *acctest.Env, s talk) {
	t.Helper()
	completed := s.CreatedAt + 7500
	changed(t, e, s.ID, emulator.SessionChange{
		Status: new("running"), Title: new("Fix the\nlogin"), MessageCount: new(int64(7)), ServiceCredits: new(12.5), ParentSessionID: new("parent-1"), CompletedAt: &completed,
	})
}

// The result is the same if the service omits the settings when it returns a single session.
func TestSessionDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	for _, settingsOnReads := range []bool{false, true} {
		e := acctest.New(t)
		e.SessionSettingsOnReads(settingsOnReads)
		computer := newComputer(e, "dev")
		s := makeTalk(e, computer, map[string]any{"model": "model-light", "tags": []any{map[string]any{"name": "rich", "metadata": map[string]string{"a": "1"}}}})
		whileItChanges(t, e, s)
		e.Journal().Reset()
		for _, config := range []acctest.Values{{"id": s.ID}, {"id": s.ID, "computer_id": computer}} {
			got := readSession(t, e, nil, config)
			settings := got["session_settings"].(map[string]any)
			acctest.MustHave(t, settings, map[string]any{"model": "model-light", "tags": []any{map[string]any{"name": "rich", "metadata": map[string]any{"a": "1"}}}})
			acctest.MustHave(t, got, map[string]any{
				"id": s.ID, "parent_session_id": "parent-1", "title": "Fix the\nlogin", "status": "running", "message_count": 7.0, "created_at": atMillis(s.CreatedAt),
				"updated_at": atMillis(e.Now().UnixMilli()), "completed_at": atMillis(s.CreatedAt + 7500), "computer_id": computer, "service_credits": 12.5,
			})
		}
		if n := e.Journal().Count("listSessions"); (n == 0) != settingsOnReads {
			t.Errorf("%d listings were sent", n)
		}
	}
}

// A session of another owner is in no list, so its settings are known only if a read by ID returns them.
func TestSessionDataSource_ofSomebodyElse(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	mine := makeTalk(e, computer, nil)
	manager := acctest.Values{"api_key": somebody(t, e, emulator.RoleManager)}
	for _, settingsOnReads := range []bool{false, true} {
		e.SessionSettingsOnReads(settingsOnReads)
		got := readSession(t, e, manager, acctest.Values{"id": mine.ID})
		if _, isTold := got["session_settings"]; isTold != settingsOnReads || got["computer_id"] != computer {
			t.Errorf("read %v", got)
		}
	}
	user := acctest.Values{"api_key": somebody(t, e, emulator.RoleUser)}
	e.MustNotRead(t, user, sessionType, acctest.Values{"id": mine.ID}, "", "Cannot read session", "getSession", "403", "the API key of the session's owner")
}

const missing = "5ab8c2f0-6f0e-4b5a-9d66-2f7f3c1e9a10"

func TestSessionDataSource_errors(t *testing.T) {
	t.Parallel()
	const cannot, notFound = "Cannot read session", "Session not found"
	e := acctest.New(t)
	there := newComputer(e, "there")
	s := makeTalk(e, newComputer(e, "here"), nil)
	fails := func(config acctest.Values, at string, want ...string) {
		t.Helper()
		e.MustNotRead(t, nil, sessionType, config, at, want...)
	}
	on := func(computer string) acctest.Values {
		return acctest.Values{"id": s.ID, "computer_id": computer}
	}
	fails(acctest.Values{"id": missing}, "id", notFound, missing+"\" was not found. Check the ID. If the session was just created, try again in a few minutes.")
	fails(on(there), "computer_id", "Session on another computer", "Correct computer_id, or omit it")
	fails(acctest.Values{"id": " "}, "id", "id must not be blank. Give the ID of a session")
	fails(on(" "), "computer_id", "computer_id must not be blank. Give the ID of a computer, or omit it")
	fails(acctest.Values{"id": s.ID + "/interrupt"}, "id", notFound)
	e.Faults().Add(emulator.Fault{Operation: "getSession", Kind: emulator.FaultOtherResponse, Body: `{"sessionId":"another","status":"idle"}`, Times: -1})
	fails(acctest.Values{"id": s.ID}, "", cannot, "getSession", "another")
	e.Faults().Clear()
	e.AllowSessions(false)
	fails(acctest.Values{"id": s.ID}, "", cannot, "403", "not enabled", "selected organizations")
	if n := e.Journal().Count("interruptSession"); n > 0 {
		t.Error("an ID reached another operation")
	}
}
