package session_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const messageType = "agentyard_session_message"

// storedMessage is a message as the API lists it.
type storedMessage struct {
	ID, Role string
	Content  []map[string]any
}

func (m storedMessage) text() string {
	text, _ := m.Content[0]["text"].(string)
	return text
}

// saidIn returns the messages of a session with a role, newest first, after all of them are listed.
func saidIn(e *acctest.Env, session, role string) []storedMessage {
	if e.Clock != nil {
		e.Clock.Advance(time.Minute)
	}
	var all []storedMessage
	for cursor := ""; ; {
		var page struct {
			Messages   []storedMessage
			Pagination struct{ NextCursor string }
		}
		e.API(http.MethodGet, sessionsRoute+"/"+session+"/messages?limit=100&role="+role+cursor, nil, &page)
		all = append(all, page.Messages...)
		if page.Pagination.NextCursor == "" {
			return all
		}
		cursor = "&cursor=" + page.Pagination.NextCursor
	}
}

// mustBeSent checks that a session has exactly one message of the user.
func mustBeSent(t *testing.T, e *acctest.Env, session, text string) storedMessage {
	t.Helper()
	sent := saidIn(e, session, "user")
	if len(sent) != 1 || sent[0].text() != text {
		t.Fatalf("the session has the messages %+v, want one with %q", sent, text)
	}
	return sent[0]
}

func message(session, text string) acctest.Values {
	return acctest.Values{"session_id": session, "text": text}
}

func script(t *testing.T, e *acctest.Env, session string, answer emulator.SessionAnswer) {
	t.Helper()
	check.Must(t, e.ScriptAnswer(session, answer))
}

func mustSend(t *testing.T, e *acctest.Env, config acctest.Values) []string {
	t.Helper()
	progress, out := acctest.NewProcess(t, e, nil).Invoke(messageType, config)
	out.MustBeSilent(t)
	return progress
}

// The action sends one message and nothing else.
func TestSessionMessage(t *testing.T) {
	t.Parallel()
	e, s := newTalk(t)
	e.Journal().Reset()
	progress := mustSend(t, e, message(s.ID, "Fix the ä"))
	if got := e.Journal().Count("sendSessionMessage"); got != 1 || e.Journal().Count("listSessionMessages")+e.Journal().Count("getSession") > 0 {
		t.Errorf("%d messages were sent: %+v", got, e.Journal().Entries())
	}
	sent := mustBeSent(t, e, s.ID, "Fix the ä")
	check.Is(t, "progress", progress, []string{"Sending a message to session " + s.ID, "Sent message " + sent.ID + " to session " + s.ID})
}

// A session that was just created gets a 404 for some seconds.
func TestSessionMessage_youngSession(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.SessionDelay = 9 * time.Second })
	id := newYoungSession(e, newComputer(e, "dev"), nil)
	mustSend(t, e, message(id, "Begin"))
	mustBeSent(t, e, id, "Begin")
}

// An attachment is sent as text or in Base64, depending on its content.
func TestSessionMessage_attachments(t *testing.T) {
	t.Parallel()
	e, s := newTalk(t)
	dir := t.TempDir()
	file := func(name, content string) string {
		at := filepath.Join(dir, name)
		check.Must(t, os.WriteFile(at, []byte(content), 0o600))
		return at
	}
	png := file("a.png", "\x89PNG\r\n\x1a\n")
	config := message(s.ID, "Look")
	config["files"] = []any{
		map[string]any{"path": file("a.csv", "ä,b")}, map[string]any{"path": file("a.pdf", "%PDF-1.7")}, map[string]any{"path": file("b.csv", "a"), "media_type": "text/csv"},
		map[string]any{"path": file("x.bin", "a\x00"), "media_type": "application/x-own"}, map[string]any{"path": file("y.txt", "\xff"), "media_type": "text/plain"}, map[string]any{"path": file("empty", "")},
	}
	config["images"] = []any{map[string]any{"path": png}}
	mustSend(t, e, config)
	var got []string
	for _, block := range mustBeSent(t, e, s.ID, "Look").Content[1:] {
		source, _ := json.Marshal(block["source"])
		got = append(got, string(source))
	}
	want := []string{
		`{"data":"iVBORw0KGgo=","mediaType":"image/png","type":"base64"}`,
		`{"data":"ä,b","mediaType":"text/plain","name":"a.csv","type":"text"}`, `{"data":"JVBERi0xLjc=","mediaType":"application/pdf","name":"a.pdf","type":"base64"}`,
		`{"data":"a","mediaType":"text/plain","name":"b.csv","type":"text"}`, `{"data":"YQA=","mediaType":"application/x-own","name":"x.bin","type":"base64"}`,
		`{"data":"/w==","mediaType":"text/plain","name":"y.txt","type":"base64"}`, `{"data":"","mediaType":"text/plain","name":"empty","type":"text"}`,
	}
	check.Is(t, "sent", got, want)

	fails := func(name string, list []any, at string, want ...string) {
		t.Helper()
		e.Journal().Reset()
		bad := message(s.ID, "Look")
		bad[name] = list
		e.MustNotInvoke(t, nil, messageType, bad, at, want...)
		e.WantRequests(t, "sendSessionMessage", 0)
	}
	fails("files", []any{map[string]any{"path": png}, map[string]any{"path": filepath.Join(dir, "none")}}, "files[1].path", "Cannot read file", "none")
	fails("files", []any{map[string]any{"path": dir}}, "files[0].path", "Cannot read file", "is not a regular file")
	fails("images", []any{map[string]any{"path": filepath.Join(dir, "a.pdf")}}, "images[0].path", "Not an image", "Its content is application/pdf")
	fails("images", []any{map[string]any{"path": filepath.Join(dir, "gone.png")}}, "images[0].path", "Cannot read file")
	large := file("large.bin", "")
	check.Must(t, os.Truncate(large, 32<<20))
	fails("files", []any{map[string]any{"path": png}, map[string]any{"path": large}}, "files[1].path", "Attachments too large", "can have 33554432 bytes in total", "With "+large+", they have more", "fewer or smaller files")
	fails("images", []any{map[string]any{"path": png}, map[string]any{"path": large}}, "images[1].path", "Attachments too large")
}

func TestSessionMessage_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	s := makeTalk(e, computer, nil)
	const cannot = "Cannot send message"
	e.MustNotInvoke(t, nil, messageType, message(" ", "x"), "session_id", "session_id must not be blank")
	e.MustNotInvoke(t, nil, messageType, message(s.ID, "\n"), "text", "text must not be blank")
	e.MustNotInvoke(t, acctest.Values{"api_key": somebody(t, e, emulator.RoleUser)}, messageType, message(s.ID, "x"), "", cannot, "403", "the API key of the session's owner")
	check.Must(t, e.LoseComputer(computer))
	e.MustNotInvoke(t, nil, messageType, message(s.ID, "x"), "", cannot, "400", "needs an active computer", "The message was not sent.")
	check.None(t, "messages", saidIn(e, s.ID, "user"))
}

// After a lost response, the action finds its message, or names it. It never sends it twice.
func TestSessionMessage_lost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind   emulator.FaultKind
		others int // How many messages with the same text others send meanwhile.
		want   []string
		sent   int
	}{
		"after commit":                    {kind: emulator.FaultDropAfterCommit, sent: 1},
		"cut off":                         {kind: emulator.FaultTruncatedBody, sent: 1},
		"before commit":                   {kind: emulator.FaultDropBeforeCommit, want: []string{"no such message in the session", "agentyard_session_messages", "send it again"}},
		"after commit, another is alike":  {kind: emulator.FaultDropAfterCommit, others: 1, want: []string{"it may have created"}, sent: 2},
		"before commit, another is alike": {kind: emulator.FaultDropBeforeCommit, others: 2, want: []string{"it may have created"}, sent: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := newTalk(t)
			e.Faults().Add(emulator.Fault{Operation: "sendSessionMessage", Kind: tc.kind})
			p := acctest.NewProcess(t, e, nil)
			for range tc.others {
				check.Must(t, e.AddMessage(s.ID, emulator.SessionMessage{Role: "user", Content: []json.RawMessage{json.RawMessage(text("Fix it"))}}))
			}
			progress, out := p.Invoke(messageType, message(s.ID, "Fix it"))
			sent := saidIn(e, s.ID, "user")
			if len(sent) != tc.sent || e.Journal().Count("sendSessionMessage") != 1 {
				t.Errorf("sent %d times, the session has %+v", e.Journal().Count("sendSessionMessage"), sent)
			}
			if tc.want != nil {
				out.MustFail(t, "", append(tc.want, "Message may not have been sent", s.ID, "sendSessionMessage")...)
				return
			}
			if len(out.Errors) > 0 || progress[len(progress)-1] != "Sent message "+sent[0].ID+" to session "+s.ID {
				t.Errorf("%s %q", out.Text(), progress)
			}
		})
	}
}

// The message that is found after a lost response may be another run's, so the action and the resource say so.
func TestSessionMessage_anotherRunsIsFound(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*acctest.Process, acctest.Values) acctest.Outcome{
		"action": func(p *acctest.Process, config acctest.Values) acctest.Outcome {
			_, out := p.Invoke(messageType, config)
			return out
		},
		"resource": func(p *acctest.Process, config acctest.Values) acctest.Outcome {
			return p.Apply(p.NewInstance(messageType), config)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := newTalk(t)
			e.Faults().Add(emulator.Fault{Operation: "sendSessionMessage", Kind: emulator.FaultDropBeforeCommit})
			check.Must(t, e.AddMessage(s.ID, emulator.SessionMessage{Role: "user", Content: []json.RawMessage{json.RawMessage(text("Fix it"))}}))
			out := run(acctest.NewProcess(t, e, nil), message(s.ID, "Fix it"))
			out.MustSucceed(t)
			check.Is(t, "warnings", len(out.Warnings), 1)
			check.Says(t, out.WarningText(), "Found after a lost response", "taken for its result: message "+saidIn(e, s.ID, "user")[0].ID+" (created at ", "If another run sent the same request")
			check.Lacks(t, out.WarningText(), "destroying")
		})
	}
}

const interruptType = "agentyard_session_interrupt"

// isRunning lets an agent work in a session.
func isRunning(t *testing.T, e *acctest.Env, id string) {
	t.Helper()
	changed(t, e, id, emulator.SessionChange{Status: new("running")})
}

func statusOf(e *acctest.Env, id string) string {
	var shown struct{ Status string }
	e.API(http.MethodGet, sessionsRoute+"/"+id, nil, &shown)
	return shown.Status
}

// mustInterrupt invokes the action and returns its message.
func mustInterrupt(t *testing.T, e *acctest.Env, id string) string {
	t.Helper()
	progress, out := acctest.NewProcess(t, e, nil).Invoke(interruptType, acctest.Values{"session_id": id})
	if len(out.Errors)+len(out.Warnings) > 0 || len(progress) != 1 {
		t.Fatalf("%s %s%q", out.Text(), out.WarningText(), progress)
	}
	return progress[0]
}

// The action can be repeated, and sends a single request, so that nothing delays the interrupt.
func TestSessionInterrupt(t *testing.T) {
	t.Parallel()
	e, s := newTalk(t)
	for _, status := range []string{"running", "pending", "idle"} {
		changed(t, e, s.ID, emulator.SessionChange{Status: new(status)})
		e.Journal().Reset()
		check.Is(t, status+": told", mustInterrupt(t, e, s.ID), "Session "+s.ID+" is idle")
		if n := len(e.Journal().Entries()); n != 1 || e.Journal().Count("interruptSession") != 1 {
			t.Errorf("%s: %d requests were sent", status, n)
		}
		check.Is(t, status+": the session", statusOf(e, s.ID), "idle")
	}
}

func TestSessionInterrupt_notStoppedYet(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"running", "winding-down"} {
		e, s := newTalk(t)
		e.Faults().Add(emulator.Fault{Operation: "interruptSession", Kind: emulator.FaultOtherResponse, Body: `{"status":"` + status + `","new":1}`})
		if got, want := mustInterrupt(t, e, s.ID), "Session "+s.ID+" is "+status+": the service accepted the interruption, but the agent has not stopped yet"; !strings.HasPrefix(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

// A session that was just created gets a 404 at first.
func TestSessionInterrupt_youngSession(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	check.Says(t, mustInterrupt(t, e, newYoungSession(e, newComputer(e, "dev"), nil)), "is idle")
}

func TestSessionInterrupt_errors(t *testing.T) {
	t.Parallel()
	e, s := newTalk(t)
	isRunning(t, e, s.ID)
	config, user := acctest.Values{"session_id": s.ID}, acctest.Values{"api_key": somebody(t, e, emulator.RoleUser)}
	e.MustNotInvoke(t, nil, interruptType, acctest.Values{"session_id": " "}, "session_id", "session_id must not be blank. Set the ID of a session")
	e.MustNotInvoke(t, user, interruptType, config, "", "403", "belongs to another member", "the API key of the session's owner, or of a member with the Manager role")
	e.Faults().Add(emulator.Fault{Operation: "interruptSession", Kind: emulator.FaultOtherResponse, Body: "{}"})
	e.MustNotInvoke(t, nil, interruptType, config, "", "Cannot interrupt session", "interruptSession", "the field status is missing")
	isRunning(t, e, s.ID)
	if got := mustInterrupt(t, e, s.ID); !strings.Contains(got, "is idle") || statusOf(e, s.ID) != "idle" {
		t.Errorf("told %q", got)
	}
	// A manager can interrupt any user's agent.
	isRunning(t, e, s.ID)
	_, out := acctest.NewProcess(t, e, acctest.Values{"api_key": somebody(t, e, emulator.RoleManager)}).Invoke(interruptType, config)
	out.MustSucceed(t)
	check.Is(t, "the status", statusOf(e, s.ID), "idle")
}
