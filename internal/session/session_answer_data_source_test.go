package session_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const answerType = "agentyard_session_answer"

// sendTo sends a message outside Terraform and returns its ID.
func sendTo(e *acctest.Env, session, text string) string {
	var sent struct{ MessageID string }
	e.API(http.MethodPost, sessionsRoute+"/"+session+"/messages", map[string]any{"text": text}, &sent)
	return sent.MessageID
}

func answerTo(session, message string) acctest.Values {
	return acctest.Values{"session_id": session, "message_id": message}
}

// readAnswer returns the text of an answer, or the error. It also returns the requests, and by how much the clock moved.
func readAnswer(t *testing.T, e *acctest.Env, config acctest.Values) (string, int, time.Duration) {
	t.Helper()
	e.Journal().Reset()
	begin := e.Clock.Now()
	read, out := acctest.NewProcess(t, e, nil).ReadData(answerType, config)
	requests, took := len(e.Journal().Entries()), e.Clock.Now().Sub(begin)
	if len(out.Warnings) > 0 {
		t.Error(out.WarningText())
	}
	if len(out.Errors) > 0 {
		return out.Text(), requests, took
	}
	return fmt.Sprint(plain(t, read["text"])), requests, took
}

// The read waits for the answer. Later reads return the same at once.
func TestSessionAnswer(t *testing.T) {
	t.Parallel()
	for name, isError := range map[string]bool{"answered": false, "failed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			s := makeTalk(e, newComputer(e, "dev"), nil)
			script(t, e, s.ID, emulator.SessionAnswer{Text: "Done.\n2", After: 10 * time.Minute, ToolUses: 2, IsError: isError})
			id := sendTo(e, s.ID, "Fix it")
			text, _, took := readAnswer(t, e, answerTo(s.ID, id))
			if text != "Done.\n2" || took < 10*time.Minute || took > 11*time.Minute {
				t.Errorf("after %s: %s", took, text)
			}
			for _, pause := range []time.Duration{0, 24 * time.Hour} {
				e.Clock.Advance(pause)
				if text, requests, took := readAnswer(t, e, answerTo(s.ID, id)); text != "Done.\n2" || took > 0 || requests > 5 { // A page has two messages.
					t.Errorf("after %s and %d requests: %s", took, requests, text)
				}
			}
			read, _ := acctest.NewProcess(t, e, nil).ReadData(answerType, answerTo(s.ID, id))
			last := saidIn(e, s.ID, "assistant")[0]
			if plain(t, read["id"]) != last.ID || plain(t, read["is_error"]) != isError || plain(t, read["content_json"]) != `[{"text":"Done.\n2","type":"text"}]` {
				t.Errorf("%v is not %v", read, last)
			}
			if at, err := time.Parse(time.RFC3339, fmt.Sprint(plain(t, read["answered_at"]))); err != nil || at.Sub(acctest.Start) < 10*time.Minute || at.Sub(acctest.Start) > 12*time.Minute {
				t.Errorf("answered at %v", read["answered_at"])
			}
		})
	}
}

// An old answer is returned at once, also of a long session, and while the agent answers a later message.
func TestSessionAnswer_old(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		then     func(t *testing.T, e *acctest.Env, id string)
		requests int
	}{
		"last": {func(*testing.T, *acctest.Env, string) {}, 2},
		"before another message": {func(t *testing.T, e *acctest.Env, id string) {
			t.Helper()
			script(t, e, id, emulator.SessionAnswer{Text: "later", After: time.Hour, ToolUses: 5})
			sendTo(e, id, "Next")
			e.Clock.Advance(time.Minute)
		}, 2},
		"in a long session": {func(t *testing.T, e *acctest.Env, id string) {
			t.Helper()
			for n := range 60 {
				say(t, e, id, "user", text(fmt.Sprint("Next ", n)))
				say(t, e, id, "assistant", text("later"))
			}
			e.Clock.Advance(time.Minute)
		}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 100 })
			s := makeTalk(e, newComputer(e, "dev"), nil)
			sendTo(e, s.ID, "Zero")
			e.Clock.Advance(time.Minute)
			id := sendTo(e, s.ID, "Fix it")
			e.Clock.Advance(time.Minute)
			tc.then(t, e, s.ID)
			if text, requests, took := readAnswer(t, e, answerTo(s.ID, id)); text != "Fix it" || took > 0 || requests != tc.requests {
				t.Errorf("after %s and %d requests: %s", took, requests, text)
			}
		})
	}
}

// A text that the agent writes during its work, and a session whose status is out of date, are no answer.
func TestSessionAnswer_young(t *testing.T) {
	t.Parallel()
	for age := 0 * time.Second; age <= 90*time.Second; age += 5 * time.Second {
		e := acctest.New(t)
		s := makeTalk(e, newComputer(e, "dev"), nil)
		e.Clock.Advance(time.Hour)
		script(t, e, s.ID, emulator.SessionAnswer{Text: "Done.", After: 40 * time.Second})
		id := sendTo(e, s.ID, "Fix it")
		say(t, e, s.ID, "assistant", text("Looking"))
		e.Clock.Advance(age)
		if text, _, _ := readAnswer(t, e, answerTo(s.ID, id)); text != "Done." {
			t.Errorf("%s after the message: %s", age, text)
		}
	}
}

// The answer of another message is never returned.
func TestSessionAnswer_unclear(t *testing.T) {
	t.Parallel()
	const another = "The agent was at work when a message arrived, or was interrupted before"
	for name, tc := range map[string]struct {
		first, second time.Duration // How long the agent works for each message.
		between       time.Duration
		interrupt     bool
		want          [2]string
	}{
		"queued":             {time.Minute, time.Minute, 10 * time.Second, false, [2]string{another, another}},
		"one after another":  {time.Minute, time.Minute, 2 * time.Minute, false, [2]string{"first", "second"}},
		"after an interrupt": {time.Hour, time.Minute, 2 * time.Minute, true, [2]string{another, another}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			s := makeTalk(e, newComputer(e, "dev"), nil)
			var ids [2]string
			for i, after := range []time.Duration{tc.first, tc.second} {
				said := []string{"first", "second"}[i]
				script(t, e, s.ID, emulator.SessionAnswer{Text: said, After: after, ToolUses: 4})
				ids[i] = sendTo(e, s.ID, said)
				e.Clock.Advance(tc.between)
				if i == 0 && tc.interrupt {
					e.API(http.MethodPost, sessionsRoute+"/"+s.ID+"/interrupt", nil, nil)
				}
			}
			for i, id := range ids {
				got, _, _ := readAnswer(t, e, answerTo(s.ID, id))
				acctest.Says(t, got, tc.want[i])
			}
		})
	}
}

func TestSessionAnswer_errors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, e *acctest.Env, id string) // Between the message and the read.
		message string
		at      string
		want    []string
		took    time.Duration // At most.
	}{
		"interrupted, old": {
			prepare: func(_ *testing.T, e *acctest.Env, id string) {
				e.Clock.Advance(5 * time.Minute)
				e.API(http.MethodPost, sessionsRoute+"/"+id+"/interrupt", nil, nil)
				e.Clock.Advance(5 * time.Minute)
			},
			want: []string{"No Answer From the Agent", "idle for 90 seconds and lists no answer", "may have been interrupted", "send it again"},
		},
		"interrupted": {
			prepare: func(_ *testing.T, e *acctest.Env, id string) {
				e.Clock.Advance(5 * time.Minute)
				e.API(http.MethodPost, sessionsRoute+"/"+id+"/interrupt", nil, nil)
			},
			want: []string{"No Answer From the Agent"}, took: 2 * time.Minute,
		},
		"too slow":        {want: []string{"Timed Out Waiting for the Agent", "still \"running\" after 30m0s", "raise read in the timeouts block"}, took: 31 * time.Minute},
		"unknown message": {message: "other", want: []string{"Timed Out", "does not list message other"}, took: 31 * time.Minute},
		"unknown message, idle": {
			prepare: func(_ *testing.T, e *acctest.Env, _ string) { e.Clock.Advance(24 * time.Hour) },
			message: "other", want: []string{"Message Not Found", "does not list message other", "Check the IDs"}, took: 2 * time.Minute,
		},
		"deleted session": {
			prepare: func(_ *testing.T, e *acctest.Env, id string) { deleted(e, sessionsRoute+"/"+id) },
			at:      "session_id", want: []string{"Cannot Wait for the Agent", "404", "The session was not found"}, took: time.Minute,
		},
		"service down": {
			prepare: func(_ *testing.T, e *acctest.Env, _ string) {
				e.Faults().Add(emulator.Fault{Operation: "listSessionMessages", Kind: emulator.FaultStatusBeforeCommit, Status: 403, Times: -1})
			},
			want: []string{"Cannot Wait for the Agent", "listSessionMessages", "403", "the API key of the session's owner"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			s := makeTalk(e, newComputer(e, "dev"), nil)
			script(t, e, s.ID, emulator.SessionAnswer{After: time.Hour, ToolUses: 9})
			id := sendTo(e, s.ID, "Fix it")
			if tc.prepare != nil {
				tc.prepare(t, e, s.ID)
			}
			if tc.message != "" {
				id = tc.message
			}
			begin := e.Clock.Now()
			_, out := acctest.NewProcess(t, e, nil).ReadData(answerType, answerTo(s.ID, id))
			out.MustFail(t, tc.at, append(tc.want, s.ID, id)...)
			if took := e.Clock.Now().Sub(begin); took > tc.took {
				t.Errorf("it waited %s", took)
			}
		})
	}
	e := acctest.New(t)
	for at, config := range map[string]acctest.Values{
		"session_id": answerTo(" ", "m"), "message_id": answerTo("s", " "),
		"timeouts.read": {"session_id": "s", "message_id": "m", "timeouts": map[string]any{"read": "0s"}},
	} {
		_, out := acctest.NewProcess(t, e, nil).ReadData(answerType, config)
		out.MustFail(t, at)
	}
}

// Ctrl-C ends the wait.
func TestSessionAnswer_stopped(t *testing.T) {
	t.Parallel()
	var process *acctest.Process
	e := acctest.New(t, acctest.Hold("listSessionMessages", func(<-chan struct{}) { process.Stop() }))
	s := makeTalk(e, newComputer(e, "dev"), nil)
	id := sendTo(e, s.ID, "Fix it")
	process = acctest.NewProcess(t, e, nil)
	_, out := process.ReadData(answerType, answerTo(s.ID, id))
	out.MustFail(t, "", "Interrupted Before the Agent Answered", id, "The agent was not stopped")
}

// Another message during the wait does not change the answer, or makes it unclear.
func TestSessionAnswer_anotherMessage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after time.Duration // When the other message is sent.
		want  string
	}{
		"after the answer": {50 * time.Second, "first"},
		"before it":        {20 * time.Second, "Answer Unclear"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var s talk
			e = acctest.New(t, acctest.Hold("getSession", func(<-chan struct{}) {
				e.Clock.Advance(tc.after)
				script(t, e, s.ID, emulator.SessionAnswer{Text: "second"})
				sendTo(e, s.ID, "other")
			}))
			s = makeTalk(e, newComputer(e, "dev"), nil)
			script(t, e, s.ID, emulator.SessionAnswer{Text: "first", After: 30 * time.Second})
			got, _, _ := readAnswer(t, e, answerTo(s.ID, sendTo(e, s.ID, "Fix it")))
			acctest.Says(t, got, tc.want)
		})
	}
}

// Whatever fails once, the answer is the same.
func TestSessionAnswer_faults(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"getSession", "listSessionMessages"} {
		for _, fault := range []emulator.Fault{
			{Kind: emulator.FaultDropBeforeCommit}, {Kind: emulator.FaultTruncatedBody}, {Kind: emulator.FaultNonJSON}, {Kind: emulator.FaultRateLimited},
			{Kind: emulator.FaultStatusBeforeCommit, Status: 503}, {Kind: emulator.FaultOtherServer, Status: 404},
		} {
			e := acctest.New(t)
			s := makeTalk(e, newComputer(e, "dev"), nil)
			id := sendTo(e, s.ID, "Fix it")
			fault.Operation, fault.Times = operation, 1
			e.Faults().Add(fault)
			if got, _, _ := readAnswer(t, e, answerTo(s.ID, id)); got != "Fix it" || len(e.Faults().Pending()) > 0 {
				t.Errorf("%s, %s: %s", operation, fault.Kind, got)
			}
		}
	}
}

// An answer without text has null.
func TestSessionAnswer_withoutText(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := makeTalk(e, newComputer(e, "dev"), nil)
	acctest.Must(t, e.AddMessage(s.ID, emulator.SessionMessage{Role: "user", Content: []json.RawMessage{json.RawMessage(text("Draw"))}}))
	say(t, e, s.ID, "assistant", `{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"aaaa"}}`)
	if got, _, _ := readAnswer(t, e, answerTo(s.ID, saidIn(e, s.ID, "user")[0].ID)); got != "<nil>" {
		t.Error(got)
	}
}
