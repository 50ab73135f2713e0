package session_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestSessionMessage_waitsForTheAnswer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := makeTalk(e, newComputer(e, "dev"), nil)
	script(t, e, s.ID, emulator.SessionAnswer{Text: "Done.\nAll tests pass.\x1b[31m\n3\n4\n5\n6", After: 10 * time.Minute, ToolUses: 2})
	begin := e.Clock.Now()
	progress := mustSend(t, e, waitingMessage(s.ID, "Fix it"))
	if took := e.Clock.Now().Sub(begin); took < 10*time.Minute || took > 11*time.Minute {
		t.Errorf("it waited %s", took)
	}
	about := "Session " + s.ID + " is "
	mustTell(t, progress, "Sending a message to session "+s.ID, "Sent message "+mustBeSent(t, e, s.ID, "Fix it").ID+" to session "+s.ID,
		about+"idle, with 1 message", about+"pending, with 1 message", about+"running, with 1 message", about+"running, with 2 messages", about+"running, with 3 messages",
		about+"running, with 4 messages", about+"running, with 5 messages", about+"idle, with 6 messages",
		"The agent of session "+s.ID+" answered:\nDone.\nAll tests pass. [31m\n3\n4\n5 …")
}

// A message that waits for a running turn: the messages do not show which answer is whose.
func TestSessionMessage_queued(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := makeTalk(e, newComputer(e, "dev"), nil)
	script(t, e, s.ID, emulator.SessionAnswer{Text: "first", After: time.Minute})
	mustSend(t, e, message(s.ID, "one"))
	e.Clock.Advance(10 * time.Second)
	script(t, e, s.ID, emulator.SessionAnswer{Text: "second", After: time.Minute})
	begin := e.Clock.Now()
	_, out := send(t, e, waitingMessage(s.ID, "two"))
	out.MustFail(t, "", "Answer Unclear", s.ID, saidIn(e, s.ID, "user")[0].ID, "the agent has finished", "Read the answers with the data source agentyard_session_messages")
	if took := e.Clock.Now().Sub(begin); took < 2*time.Minute {
		t.Errorf("it waited %s", took)
	}
}

// Another message during the wait has its own answer.
func TestSessionMessage_anotherMessage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after time.Duration // When the other message is sent.
		want  string
	}{
		"after the answer": {50 * time.Second, "Agent Failed"},
		"before it":        {20 * time.Second, "Answer Unclear"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var s talk
			e = acctest.New(t, acctest.Hold("getSession", func(<-chan struct{}) {
				e.Clock.Advance(tc.after)
				e.API(http.MethodPost, sessionsRoute+"/"+s.ID+"/messages", map[string]any{"text": "other"}, nil)
			}))
			s = makeTalk(e, newComputer(e, "dev"), nil)
			script(t, e, s.ID, emulator.SessionAnswer{Text: "out of credits", IsError: true, After: 30 * time.Second})
			_, out := send(t, e, waitingMessage(s.ID, "Fix it"))
			out.MustFail(t, "", tc.want, s.ID)
		})
	}
}

// A text that the agent writes during its work is not its answer, although the service lists the answer later.
func TestSessionMessage_textDuringTheWork(t *testing.T) {
	t.Parallel()
	var e *acctest.Env
	var s talk
	e = acctest.New(t, acctest.Hold("getSession", func(<-chan struct{}) {
		e.Clock.Advance(5 * time.Minute)
		acctest.Must(t, e.AddMessage(s.ID, emulator.SessionMessage{Role: "assistant", Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"Looking"}`)}}))
	}))
	s = makeTalk(e, newComputer(e, "dev"), nil)
	script(t, e, s.ID, emulator.SessionAnswer{Text: "Done", After: 10 * time.Minute})
	progress := mustSend(t, e, waitingMessage(s.ID, "Fix it"))
	if got := progress[len(progress)-1]; !strings.HasSuffix(got, "answered:\nDone") {
		t.Errorf("the last progress is %q", got)
	}
}

// The rate limit delays the second look until the agent has worked. Its status is idle in both, but not in between.
func TestSessionMessage_workBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"42", "92"} {
		t.Run(wait, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var s talk
			e = acctest.New(t, acctest.Hold("sendSessionMessage", func(<-chan struct{}) {
				e.Faults().Add(emulator.Fault{Operation: "getSession", Kind: emulator.FaultRateLimited, RetryAfter: wait, After: 1, Times: 1})
				acctest.Must(t, e.AddMessage(s.ID, emulator.SessionMessage{Role: "assistant", Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"Looking"}`)}}))
			}))
			s = makeTalk(e, newComputer(e, "dev"), nil)
			script(t, e, s.ID, emulator.SessionAnswer{Text: "Done", After: 30 * time.Second})
			progress := mustSend(t, e, waitingMessage(s.ID, "Fix it"))
			if got := progress[len(progress)-1]; !strings.HasSuffix(got, "answered:\nDone") {
				t.Errorf("the last progress is %q", got)
			}
		})
	}
}

func TestSessionMessage_theAgentDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer emulator.SessionAnswer
		during func(e *acctest.Env, id string) // Called once, when the session is first read.
		want   []string
	}{
		"failed": {answer: emulator.SessionAnswer{Text: "out of credits", IsError: true}, want: []string{"Agent Failed", "out of credits", "send the message again"}},
		"interrupted": {
			answer: emulator.SessionAnswer{After: time.Hour, ToolUses: 9},
			during: func(e *acctest.Env, id string) {
				e.Clock.Advance(5 * time.Minute)
				e.API(http.MethodPost, sessionsRoute+"/"+id+"/interrupt", nil, nil)
			},
			want: []string{"No Answer From the Agent", "idle for 90 seconds and lists no answer", "may have been interrupted"},
		},
		"deleted": {
			during: func(e *acctest.Env, id string) { deleted(e, sessionsRoute+"/"+id) },
			want:   []string{"Cannot Wait for the Agent", "404", "The session was not found"},
		},
		"too slow": {answer: emulator.SessionAnswer{After: time.Hour}, want: []string{"Timed Out Waiting for the Agent", "still \"running\" after 30m0s", "The agent was not stopped", "raise invoke in the timeouts block"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var s talk
			e = acctest.New(t, acctest.Hold("getSession", func(<-chan struct{}) {
				if tc.during != nil {
					tc.during(e, s.ID)
				}
			}))
			s = makeTalk(e, newComputer(e, "dev"), nil)
			script(t, e, s.ID, tc.answer)
			_, out := send(t, e, waitingMessage(s.ID, "Fix it"))
			out.MustFail(t, map[bool]string{true: "session_id"}[name == "deleted"], append(tc.want, s.ID)...)
			if name != "deleted" {
				out.MustFail(t, "", mustBeSent(t, e, s.ID, "Fix it").ID)
			}
		})
	}
}

func TestSessionMessage_interrupted(t *testing.T) {
	t.Parallel()
	var process *acctest.Process
	e := acctest.New(t, acctest.Hold("getSession", func(<-chan struct{}) { process.Stop() }))
	s := makeTalk(e, newComputer(e, "dev"), nil)
	process = acctest.NewProcess(t, e, nil)
	_, out := process.Invoke(messageType, waitingMessage(s.ID, "Fix it"))
	out.MustFail(t, "", "Interrupted Before the Agent Answered", mustBeSent(t, e, s.ID, "Fix it").ID, "The agent was not stopped", "agentyard_session_interrupt")
}
