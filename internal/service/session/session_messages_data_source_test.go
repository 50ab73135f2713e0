package session_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	messagesType = "agentyard_session_messages"
	childrenType = "agentyard_session_children"
)

// say adds a message with a block to a session, a second after the previous one.
func say(t *testing.T, e *acctest.Env, id, role, block string) {
	t.Helper()
	e.Clock.Advance(time.Second)
	acctest.Must(t, e.AddMessage(id, emulator.SessionMessage{Role: role, Content: []json.RawMessage{json.RawMessage(block)}, IsError: role == "tool"}))
}

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

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
	if !slices.Equal(got, want) {
		t.Errorf("%v: got %q, want %q", config, got, want)
	}
}

// The list is complete although the service has pages of two messages, and lists new ones late.
func TestSessionMessages(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := makeTalk(e, newComputer(e, "dev"), nil)
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
	if got, want := rows[2]["content_json"], `[{"id":"t1","input":{"a":[2],"b":1},"name":"execute","type":"tool_use"}]`; got != want {
		t.Errorf("content_json %s, want %s", got, want)
	}
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
	if rows := rowsOf(t, e, childrenType, "sessions", acctest.Values{"session_id": parent.ID}); len(rows) > 0 {
		t.Errorf("children %v", rows)
	}
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
	if !slices.Equal(got, want) {
		t.Errorf("children %v, want %v", got, want)
	}
}

// Both data sources wait for a new session, and report its absence on session_id.
func TestSessionMessages_errors(t *testing.T) {
	t.Parallel()
	for typeName, operation := range map[string]string{messagesType: "listSessionMessages", childrenType: "listSessionChildren"} {
		e := acctest.New(t)
		computer := newComputer(e, "dev")
		s := makeTalk(e, computer, nil)
		read := func(settings acctest.Values, id string) acctest.Outcome {
			_, out := acctest.NewProcess(t, e, settings).ReadData(typeName, acctest.Values{"session_id": id})
			return out
		}
		if out := read(nil, newYoungSession(e, computer, nil)); len(out.Errors) > 0 {
			t.Error(out.Text())
		}
		read(nil, "5ab8c2f0-6f0e-4b5a-9d66-2f7f3c1e9a10").MustFail(t, "session_id", "Cannot list", operation, "404", "The session was not found. Check session_id. If the session was just created, try again in a few minutes.")
		read(nil, " ").MustFail(t, "session_id", "session_id must not be blank")
		read(acctest.Values{"api_key": somebody(t, e, emulator.RoleUser)}, s.ID).MustFail(t, "", operation, "403", "the API key of the session's owner")
	}
	e := acctest.New(t)
	for at, more := range map[string]acctest.Values{"max_results": {"max_results": 0}, "roles[…]": {"roles": []any{"robot"}}, "roles": {"roles": []any{}}} {
		more["session_id"] = "s1"
		_, out := acctest.NewProcess(t, e, nil).ReadData(messagesType, more)
		out.MustFail(t, at)
	}
}
