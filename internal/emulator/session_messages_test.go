package emulator_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// send sends a text to a session as the manager and returns the answer.
func (v *env) send(id, text string) object {
	v.t.Helper()
	return v.call(200, "POST", sessions+"/"+id+"/messages", object{"text": text}).object(v.t)
}

// messagesPage lists messages and returns those of the page.
func (v *env) messagesPage(id, query string) []any {
	v.t.Helper()
	return v.call(200, "GET", sessions+"/"+id+"/messages"+query, nil).object(v.t)["messages"].([]any)
}

// said shows the listed messages of a session, oldest first.
func (v *env) said(id string) string {
	v.t.Helper()
	text := ""
	for _, m := range v.messagesPage(id, "?limit=100") {
		block := m.(object)["content"].([]any)[0].(object)
		content := fmt.Sprint(block["type"])
		if block["text"] != nil {
			content = block["text"].(string)
		}
		text = fmt.Sprint(m.(object)["role"], ":", content, " ") + text
	}
	return strings.TrimSuffix(text, " ")
}

// doing shows what a session does.
func (v *env) doing(id string) string {
	v.t.Helper()
	s := v.call(200, "GET", sessions+"/"+id, nil).object(v.t)
	return fmt.Sprint(s["status"], " ", s["messageCount"])
}

// A turn goes by the clock, also after a restart: the agent notices the message, begins, and answers; messages are listed late.
func TestMessagesOfATurn(t *testing.T) {
	t.Parallel()
	v, computerID := startSessionsWith(t, emulator.Options{DataFile: dataFile(t)})
	id := v.session(object{"computerId": computerID})
	began := v.clock.Now()
	sent := v.send(id, "Fix the ä")
	same(t, "sent", sent, object{"messageId": sent["messageId"], "status": "pending", "recipientAgentStatus": "idle"})
	same(t, "title", v.call(200, "GET", sessions+"/"+id, nil).object(t)["title"], "Fix the ä")
	v = v.restart()
	for _, c := range []struct {
		after          time.Duration
		doing, visible string
	}{
		{0, "idle 1", ""},
		{2*time.Second - time.Millisecond, "idle 1", ""},
		{2 * time.Second, "pending 1", ""},
		{4 * time.Second, "running 1", ""},
		{6 * time.Second, "idle 2", ""},
		{20*time.Second - time.Millisecond, "idle 2", ""},
		{20 * time.Second, "idle 2", "user:Fix the ä"},
		{26 * time.Second, "idle 2", "user:Fix the ä assistant:Fix the ä"},
	} {
		v.clock.Advance(began.Add(c.after).Sub(v.clock.Now()))
		same(t, fmt.Sprint("status after ", c.after), v.doing(id), c.doing)
		same(t, fmt.Sprint("messages after ", c.after), v.said(id), c.visible)
	}
	at := began.UnixMilli()
	listed := v.messagesPage(id, "?role=user")
	same(t, "listed", listed, []any{object{
		"id": sent["messageId"], "role": "user", "content": []any{object{"type": "text", "text": "Fix the ä"}}, "createdAt": at, "updatedAt": at, "seq": 1,
	}})
	same(t, "title after another message", func() any {
		v.send(id, "And the ö")
		return v.call(200, "GET", sessions+"/"+id, nil).object(t)["title"]
	}(), "Fix the ä")
}

// A test can set the next answers of the agent. Without one, the agent repeats the message.
func TestScriptedAnswers(t *testing.T) {
	t.Parallel()
	v, computerID := startSessionsWith(t, emulator.Options{MessageDelay: -1, AgentPhase: time.Second})
	id := v.session(object{"computerId": computerID})
	control := "/_emulator/sessions/" + id + "/answers"
	v.call(204, "POST", control, object{"text": "Done.", "after": "5s", "tool_uses": 2})
	v.call(204, "POST", control, object{"is_error": true})
	v.send(id, "one")
	for i, want := range []string{"idle 1", "pending 1", "running 1", "running 2", "running 3", "running 4", "running 5", "idle 6"} {
		same(t, fmt.Sprint("status at second ", i), v.doing(id), want)
		v.clock.Advance(time.Second)
	}
	same(t, "said", v.said(id), "user:one assistant:tool_use tool:tool_result assistant:tool_use tool:tool_result assistant:Done.")
	all := v.messagesPage(id, "?limit=100")
	same(t, "the tool's result", all[1].(object)["content"].([]any)[0].(object)["toolUseId"], all[2].(object)["content"].([]any)[0].(object)["id"])
	for i, m := range all {
		same(t, "number", m.(object)["seq"], len(all)-i)
	}

	for i, failed := range []any{true, nil} {
		v.send(id, fmt.Sprint("task ", i))
		v.clock.Advance(3 * time.Second)
		same(t, "answer", v.said(id)[strings.LastIndex(v.said(id), " assistant:"):], fmt.Sprintf(" assistant:task %d", i))
		same(t, "failed", v.messagesPage(id, "?limit=1")[0].(object)["isError"], failed)
	}

	for want, body := range map[string]any{
		"duration in \"after\" is wrong": object{"after": "soon"},
		"A turn cannot take -1s":         object{"after": "-1s"},
		"tool uses 101 is not between":   object{"tool_uses": 101},
	} {
		v.detail(v.call(400, "POST", control, body), want)
	}
	v.detail(v.call(400, "POST", "/_emulator/sessions/"+uuidA+"/answers", object{}), "does not exist")
}

// A message waits for the end of the turn; an interrupt ends all turns, and leaves the messages that wait.
func TestMessagesThatWait(t *testing.T) {
	t.Parallel()
	v, computerID := startSessionsWith(t, emulator.Options{MessageDelay: -1, AgentPhase: time.Second})
	id := v.session(object{"computerId": computerID})
	v.send(id, "one")
	v.clock.Advance(2 * time.Second)
	second := v.send(id, "two")
	same(t, "waits", second, object{"messageId": second["messageId"], "status": "running", "recipientAgentStatus": "running"})
	same(t, "waits at once", v.send(id, "three")["status"], "running")
	for i, want := range []string{"running 3", "pending 4", "running 4", "pending 5", "running 5", "idle 6"} {
		same(t, fmt.Sprint("status at second ", i), v.doing(id), want)
		v.clock.Advance(time.Second)
	}
	same(t, "said", v.said(id), "user:one user:two user:three assistant:one assistant:two assistant:three")

	for _, after := range []time.Duration{0, time.Second, 2500 * time.Millisecond} {
		v, computerID := startSessionsWith(t, emulator.Options{MessageDelay: -1, AgentPhase: time.Second})
		id := v.session(object{"computerId": computerID})
		check.Must(t, v.ScriptAnswer(id, emulator.SessionAnswer{After: 2 * time.Second, ToolUses: 1}))
		v.send(id, "one")
		v.send(id, "two")
		v.clock.Advance(after)
		before, count := v.said(id), strings.TrimLeft(v.doing(id), "abcdefghijklmnopqrstuvwxyz")
		same(t, "interrupted", v.call(200, "POST", sessions+"/"+id+"/interrupt", nil).object(t)["status"], "idle")
		v.clock.Advance(time.Minute)
		same(t, "after the interrupt", v.doing(id)+", "+v.said(id), "idle"+count+", "+before)
		v.send(id, "three")
		v.clock.Advance(3 * time.Second)
		same(t, "the next turn", v.said(id), before+" user:three assistant:three")
	}
}

// A change of what a session does ends its turns, any other does not.
func TestChangeDuringATurn(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]emulator.SessionChange{
		"idle 2":    {ParentSessionID: new(uuidA)},
		"idle 1":    {Status: new("idle")},
		"running 1": {Title: new("x")},
		"running 7": {MessageCount: new(int64(7))},
	} {
		v, computerID := startSessionsWith(t, emulator.Options{AgentPhase: time.Second})
		id := v.session(object{"computerId": computerID})
		v.send(id, "one")
		v.clock.Advance(2 * time.Second)
		v.change(id, c)
		v.clock.Advance(time.Minute)
		same(t, "later", v.doing(id), want)
	}
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	v, computerID := startSessionsWith(t, emulator.Options{MessageDelay: -1})
	id := v.session(object{"computerId": computerID})
	path := sessions + "/" + id + "/messages"
	data := base64.StdEncoding.EncodeToString([]byte("%PDF"))
	image := object{"type": "base64", "mediaType": "image/png", "data": data}
	pdf := object{"type": "base64", "mediaType": "application/pdf", "data": data, "name": "a.pdf", "path": "/a.pdf", "parsedData": "text"}
	text := object{"type": "text", "mediaType": "text/plain", "data": "ä", "mime": "text/csv"}
	v.call(200, "POST", path, object{"text": "Look", "images": []object{image}, "files": []object{pdf, text}, "computerId": computerID})
	same(t, "content", v.messagesPage(id, "")[0].(object)["content"], []any{
		object{"type": "text", "text": "Look"}, object{"type": "image", "source": image}, object{"type": "document", "source": pdf}, object{"type": "document", "source": text},
	})
	v.call(200, "POST", path, object{"text": strings.Repeat("x", 2<<20), "images": []object{}, "files": []object{}})
}

func TestListingOfMessages(t *testing.T) {
	t.Parallel()
	v, computerID := startSessionsWith(t, emulator.Options{MessageDelay: -1})
	id := v.session(object{"computerId": computerID})
	same(t, "none", v.call(200, "GET", sessions+"/"+id+"/messages", nil).object(t), object{"messages": []any{}, "pagination": object{"hasMore": false, "nextCursor": nil}})
	control := "/_emulator/sessions/" + id + "/messages"
	for i, role := range []string{"system", "user", "assistant", "user", "tool", "user"} {
		v.call(204, "POST", control, object{"role": role, "content": []object{{"type": "text", "text": fmt.Sprint(i)}}, "isError": role == "tool"})
	}
	same(t, "said", v.said(id), "system:0 user:1 assistant:2 user:3 tool:4 user:5")
	same(t, "counted", v.doing(id), "idle 6")
	same(t, "a failed tool", v.messagesPage(id, "?role=tool")[0].(object)["isError"], true)
	read, query := "", "?limit=2&role=user"
	for more := true; more; {
		page := v.call(200, "GET", sessions+"/"+id+"/messages"+query, nil).object(t)
		for _, m := range page["messages"].([]any) {
			read += fmt.Sprint(m.(object)["seq"])
		}
		if more = page["pagination"].(object)["hasMore"].(bool); more {
			query = "?limit=2&role=user&cursor=" + url.QueryEscape(page["pagination"].(object)["nextCursor"].(string))
		}
	}
	same(t, "pages", read, "642")
	v.detail(v.call(400, "POST", control, object{"role": "robot", "content": []any{}}), `role "robot" is not`)
	v.detail(v.call(400, "POST", "/_emulator/sessions/"+uuidA+"/messages", object{"role": "user"}), "does not exist")
}

// TestAccess shows who may use the messages of a session.
func TestMessagesAndTheComputer(t *testing.T) {
	v, managed := startSessions(t)
	fresh := v.call(201, "POST", sessions, object{"computerId": managed}).object(t)["sessionId"].(string)
	v.call(404, "POST", sessions+"/"+fresh+"/messages", object{"text": "too early"})
	mine := v.session(object{"computerId": managed})
	v.call(200, "GET", sessions+"/"+mine+"/messages?computerId="+managed, nil)
	v.call(404, "GET", sessions+"/"+mine+"/messages?computerId="+uuidA, nil)
	v.call(404, "POST", sessions+"/"+mine+"/messages", object{"text": "x", "computerId": uuidA})
	check.Must(t, v.Break(managed))
	v.detail(v.call(400, "POST", sessions+"/"+mine+"/messages", object{"text": "x"}), "needs an active computer")
	check.Must(t, v.LoseComputer(managed))
	v.detail(v.call(400, "POST", sessions+"/"+mine+"/messages", object{"text": "x"}), "needs an active computer")
}

func TestSessionChildren(t *testing.T) {
	v, computerID := startSessions(t)
	parent, other := v.session(object{"computerId": computerID}), v.session(object{"computerId": computerID})
	children := sessions + "/" + parent + "/children"
	same(t, "none", v.call(200, "GET", children, nil).object(t), object{"sessions": []any{}})
	child := v.call(http.StatusCreated, "POST", sessions, object{"computerId": computerID}).object(t)["sessionId"].(string)
	v.change(child, emulator.SessionChange{ParentSessionID: new(strings.ToUpper(parent)), Artifacts: []emulator.SessionArtifact{{ID: "a", Kind: "issue"}}})
	v.change(other, emulator.SessionChange{ParentSessionID: &child})
	same(t, "too early", len(v.call(200, "GET", children, nil).object(t)["sessions"].([]any)), 0)
	v.clock.Advance(5 * time.Second)
	for query, artifacts := range map[string]any{"": nil, "?includeArtifacts=false": nil, "?includeArtifacts=true": []any{object{"id": "a", "kind": "issue"}}} {
		list := v.call(200, "GET", children+query, nil).object(t)["sessions"].([]any)
		same(t, "child", sessionIDs(list), child)
		same(t, "settings", list[0].(object)["sessionSettings"], defaultSettings())
		same(t, "artifacts"+query, list[0].(object)["artifacts"], artifacts)
	}
	v.call(204, "DELETE", sessions+"/"+child, nil)
	same(t, "deleted", len(v.call(200, "GET", children, nil).object(t)["sessions"].([]any)), 0)
}
