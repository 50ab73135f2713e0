package session_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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

// newTalk starts an emulator with a session on a computer.
func newTalk(t *testing.T, options ...acctest.Option) (*acctest.Env, talk) {
	t.Helper()
	e := acctest.New(t, options...)
	return e, makeTalk(e, newComputer(e, "dev"), nil)
}

// atMillis returns a time that the service returns in milliseconds.
func atMillis(millis int64) string { return time.UnixMilli(millis).UTC().Format(time.RFC3339Nano) }

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

// The result is the same if the service omits the settings when it returns a single session.
func TestSessionDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	for _, settingsOnReads := range []bool{false, true} {
		e := acctest.New(t)
		e.SessionSettingsOnReads(settingsOnReads)
		computer := newComputer(e, "dev")
		s := makeTalk(e, computer, map[string]any{"model": "model-light", "tags": []any{map[string]any{"name": "rich", "metadata": map[string]string{"a": "1"}}}})
		completed := s.CreatedAt + 7500
		changed(t, e, s.ID, emulator.SessionChange{
			Status: new("running"), MessageCount: new(int64(7)), ServiceCredits: new(12.5), ParentSessionID: new("parent-1"), CompletedAt: &completed,
		})
		e.Journal().Reset()
		for _, config := range []acctest.Values{{"id": s.ID}, {"id": s.ID, "computer_id": computer}} {
			got := readSession(t, e, nil, config)
			acctest.MustHave(t, got, map[string]any{
				"parent_session_id": "parent-1", "status": "running", "message_count": 7.0, "updated_at": atMillis(e.Now().UnixMilli()), "completed_at": atMillis(completed),
				"service_credits": 12.5,
			})
			acctest.MustHave(t, got["session_settings"].(map[string]any), map[string]any{
				"model": "model-light", "tags": []any{map[string]any{"name": "rich", "metadata": map[string]any{"a": "1"}}},
			})
		}
		check.Is(t, "no listing is sent", e.Journal().Count("listSessions") == 0, settingsOnReads)
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

func TestSessionDataSource_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := makeTalk(e, newComputer(e, "here"), nil).ID
	e.MustNotRead(t, nil, sessionType, acctest.Values{"id": " "}, "id", "id must not be blank. Give the ID of a session")
	e.MustNotRead(t, nil, sessionType, acctest.Values{"id": id, "computer_id": " "}, "computer_id", "computer_id must not be blank. Give the ID of a computer, or omit it")
	e.MustNotRead(t, nil, sessionType, acctest.Values{"id": id + "/interrupt"}, "id", "Session not found", "If the session was just created, try again in a few minutes.")
	e.Faults().Add(emulator.Fault{Operation: "getSession", Kind: emulator.FaultOtherResponse, Body: `{"sessionId":"another","status":"idle"}`, Times: -1})
	e.MustNotRead(t, nil, sessionType, acctest.Values{"id": id}, "", "Cannot read session", "getSession", "another")
	e.WantRequests(t, "interruptSession", 0)
}

// readSessions reads the data source, and returns the IDs.
func readSessions(t *testing.T, e *acctest.Env, config acctest.Values) []string {
	t.Helper()
	ids := []string{}
	for _, one := range e.MustRead(t, nil, "agentyard_sessions", config)["sessions"].([]any) {
		ids = append(ids, one.(map[string]any)["id"].(string))
	}
	return ids
}

// Newest first, with those that are on no computer any more.
func TestSessionsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	here, there := newComputer(e, "here"), newComputer(e, "there")
	first, second, other := makeTalk(e, here, nil), makeTalk(e, here, nil), makeTalk(e, there, nil)
	check.Must(t, e.ChangeSession(other.ID, emulator.SessionChange{ComputerID: new("")}))
	e.Clock.Advance(emulatedLag)
	for computer, want := range map[any][]string{nil: {other.ID, second.ID, first.ID}, here: {second.ID, first.ID}, there: {}} {
		check.Is(t, fmt.Sprint("the sessions on ", computer), readSessions(t, e, acctest.Values{"computer_id": computer}), want)
	}
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
	const typeName = "agentyard_sessions"
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "listSessions", Kind: emulator.FaultStatusBeforeCommit, Status: 404})
	e.MustNotRead(t, nil, typeName, acctest.Values{"computer_id": "unknown"}, "computer_id", "Cannot list sessions", "listSessions", "404", "computer was not found", "omit it")
	e.MustNotRead(t, nil, typeName, acctest.Values{"computer_id": " "}, "computer_id", "computer_id must not be blank. Give the ID of a computer, or omit it")
	e.MustNotRead(t, nil, typeName, acctest.Values{"max_results": 0}, "max_results", "max_results must be at least 1, not 0.")
}

const (
	messagesType = "agentyard_session_messages"
	childrenType = "agentyard_session_children"
)

// say adds a message with a block to a session, a second after the previous one.
func say(t *testing.T, e *acctest.Env, id, role, block string) {
	t.Helper()
	e.Clock.Advance(time.Second)
	check.Must(t, e.AddMessage(id, emulator.SessionMessage{Role: role, Content: []json.RawMessage{json.RawMessage(block)}, IsError: role == "tool"}))
}

func text(s string) string { return fmt.Sprintf(`{"text":%q,"type":"text"}`, s) }

// rowsOf returns the rows of a list that a data source reads.
func rowsOf(t *testing.T, e *acctest.Env, typeName, list string, config acctest.Values) []map[string]any {
	t.Helper()
	var rows []map[string]any
	for _, row := range e.MustRead(t, nil, typeName, config)[list].([]any) {
		rows = append(rows, acctest.WithoutNulls(row).(map[string]any))
	}
	return rows
}

func mustRead(t *testing.T, e *acctest.Env, config acctest.Values, want ...string) {
	t.Helper()
	got := []string{}
	for _, row := range rowsOf(t, e, messagesType, "messages", config) {
		got = append(got, fmt.Sprint(row["role"], " ", row["text"]))
	}
	check.Is(t, fmt.Sprint(config), got, want)
}

// The list is complete although the service has pages of two messages, and lists new ones late.
func TestSessionMessages(t *testing.T) {
	t.Parallel()
	e, s := newTalk(t)
	config := func(more acctest.Values) acctest.Values {
		all := acctest.Values{"session_id": s.ID}
		maps.Copy(all, more)
		return all
	}
	mustRead(t, e, config(nil), []string{}...)
	say(t, e, s.ID, "system", text("Be brief."))
	say(t, e, s.ID, "user", text("Fix it"))
	say(t, e, s.ID, "assistant", `{"type":"tool_use","id":"t1","name":"execute","input":{"b":1,"a":[2]}}`)
	say(t, e, s.ID, "tool", `{"type":"tool_result","toolUseId":"t1","content":"failed"}`)
	say(t, e, s.ID, "assistant", text("Done."))
	mustRead(t, e, config(nil), []string{}...)
	e.Clock.Advance(18 * time.Second)
	mustRead(t, e, config(nil), "system Be brief.", "user Fix it", "assistant <nil>")
	e.Clock.Advance(2 * time.Second)
	mustRead(t, e, config(nil), "system Be brief.", "user Fix it", "assistant <nil>", "tool <nil>", "assistant Done.")
	mustRead(t, e, config(acctest.Values{"max_results": 1}), "assistant Done.")
	mustRead(t, e, config(acctest.Values{"roles": []any{"user"}}), "user Fix it")
	mustRead(t, e, config(acctest.Values{"roles": []any{"user", "tool"}, "max_results": 2}), "user Fix it", "tool <nil>")

	rows := rowsOf(t, e, messagesType, "messages", config(nil))
	check.Is(t, "content_json", rows[2]["content_json"], `[{"id":"t1","input":{"a":[2],"b":1},"name":"execute","type":"tool_use"}]`)
	at := acctest.Start.Add(5 * time.Second)
	if created, err := time.Parse(time.RFC3339, fmt.Sprint(rows[4]["created_at"])); err != nil || created.Before(at) || rows[4]["id"] == "" {
		t.Errorf("%v: %v", rows[4], err)
	}
	if rows[3]["is_error"] != true || rows[4]["is_error"] != false {
		t.Errorf("is_error of %v and %v", rows[3], rows[4])
	}
}

func TestSessionChildren(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	parent := makeTalk(e, computer, nil)
	check.None(t, "children", rowsOf(t, e, childrenType, "sessions", acctest.Values{"session_id": parent.ID}))
	var want []string
	for range 3 {
		child := makeTalk(e, computer, map[string]any{"model": "model-light"})
		changed(t, e, child.ID, emulator.SessionChange{ParentSessionID: &parent.ID, Title: new("Look it up")})
		want = append([]string{child.ID}, want...)
	}
	e.Clock.Advance(5 * time.Second)
	var got []string
	for _, row := range rowsOf(t, e, childrenType, "sessions", acctest.Values{"session_id": parent.ID}) {
		got = append(got, fmt.Sprint(row["id"]))
		settings, _ := row["session_settings"].(map[string]any)
		if row["parent_session_id"] != parent.ID || row["title"] != "Look it up" || settings["model"] != "model-light" {
			t.Errorf("child %v", row)
		}
	}
	check.Is(t, "children", got, want)
}

// Both data sources wait for a new session, and report its absence on session_id.
func TestSessionMessages_errors(t *testing.T) {
	t.Parallel()
	for typeName, operation := range map[string]string{messagesType: "listSessionMessages", childrenType: "listSessionChildren"} {
		e := acctest.New(t)
		computer := newComputer(e, "dev")
		s := makeTalk(e, computer, nil)
		user := acctest.Values{"api_key": somebody(t, e, emulator.RoleUser)}
		e.MustRead(t, nil, typeName, acctest.Values{"session_id": newYoungSession(e, computer, nil)})
		e.MustNotRead(t, nil, typeName, acctest.Values{"session_id": " "}, "session_id", "session_id must not be blank")
		e.MustNotRead(t, user, typeName, acctest.Values{"session_id": s.ID}, "", operation, "403", "the API key of the session's owner")
	}
	e := acctest.New(t)
	for at, more := range map[string]acctest.Values{"max_results": {"max_results": 0}, "roles[…]": {"roles": []any{"robot"}}, "roles": {"roles": []any{}}} {
		more["session_id"] = "s1"
		e.MustNotRead(t, nil, messagesType, more, at)
	}
}

// The title of a session is its display name.
func TestSessionList(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	here := newComputer(e, "here")
	titled, other := makeTalk(e, here, nil), makeTalk(e, newComputer(e, "there"), nil)
	changed(t, e, titled.ID, emulator.SessionChange{Title: new("Fix the\nlogin")})
	e.Clock.Advance(emulatedLag)
	p := acctest.NewProcess(t, e, nil)
	for computer, want := range map[any][]string{nil: {other.ID, "Fix the\nlogin"}, here: {"Fix the\nlogin"}} {
		_, out := p.List(sessionType, acctest.Values{"computer_id": computer})
		out.MustSucceed(t)
		check.Is(t, "the names", p.Names, want)
	}
	_, out := p.List(sessionType, acctest.Values{"computer_id": " "})
	check.Says(t, out.Text(), "must not be blank. Set the ID of a computer, or omit it")
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
