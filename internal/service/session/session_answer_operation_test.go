package session_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const answerType = "agentyard_session_answer"

// sendTo sends a message outside Terraform and returns its ID.
func sendTo(e *acctest.Env, session, text string) string {
	return e.Make(sessionsRoute+"/"+session+"/messages", map[string]any{"text": text}).ID
}

// stored returns a value of the state, such as "true".
func stored(t *testing.T, i *acctest.Instance, name string) string {
	t.Helper()
	return fmt.Sprint(acctest.Plain(t, i.State).(map[string]any)[name])
}

func interrupt(e *acctest.Env, session string) {
	e.API(http.MethodPost, sessionsRoute+"/"+session+"/interrupt", nil, nil)
}

func answerTo(session, message string) acctest.Values {
	return acctest.Values{"session_id": session, "message_id": message}
}

// An answer is stored once. The rows are conversations. Want is the text of the answer to a message, with "failed: " before that of an
// error. It is "no answer" if the agent was interrupted, and "unclear" if the answer may belong to another message.
func TestSessionAnswer(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	type said struct {
		text   string
		answer emulator.SessionAnswer
		wait   time.Duration // After the message.
		stop   bool          // Interrupts the agent after the wait.
		want   string
	}
	for name, tc := range map[string]struct {
		said []said
		took time.Duration // Of the first answer, at most.
	}{
		"at work":              {[]said{{text: "a", answer: emulator.SessionAnswer{Text: "Done.\n2", After: 10 * time.Minute, ToolUses: 2}, want: "Done.\n2"}}, 11 * time.Minute},
		"failed":               {[]said{{text: "a", answer: emulator.SessionAnswer{Text: "out of credits", IsError: true}, want: "failed: out of credits"}}, time.Minute},
		"interrupted":          {[]said{{text: "a", answer: emulator.SessionAnswer{After: hour, ToolUses: 9}, wait: 20 * time.Minute, stop: true, want: "no answer"}}, 2 * time.Minute},
		"after an interrupt":   {[]said{{text: "a", answer: emulator.SessionAnswer{After: hour}, wait: time.Minute, stop: true, want: "unclear <nil>"}, {text: "b", want: "b"}}, 3 * time.Minute},
		"sent in parallel":     {[]said{{text: "a", want: "unclear <nil>"}, {text: "b", want: "unclear <nil>"}, {text: "c", want: "c"}}, 3 * time.Minute},
		"while agent is at it": {[]said{{text: "a", answer: emulator.SessionAnswer{After: 5 * time.Minute}, wait: time.Minute, want: "unclear <nil>"}, {text: "b", want: "b"}}, 8 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := newTalk(t, func(o *emulator.Options) { o.MaxPageSize = 20 })
			ids := make([]string, len(tc.said))
			for i, m := range tc.said {
				script(t, e, s.ID, m.answer)
				ids[i] = sendTo(e, s.ID, m.text)
				e.Clock.Advance(m.wait)
				if m.stop {
					interrupt(e, s.ID)
				}
			}
			for i, m := range tc.said {
				begin := e.Clock.Now()
				p := acctest.NewProcess(t, e, nil)
				instance := p.NewInstance(answerType)
				out := p.Apply(instance, answerTo(s.ID, ids[i]))
				if took := e.Clock.Now().Sub(begin); i == 0 && took > tc.took {
					t.Errorf("it took %s", took)
				}
				got := instance.Attribute("text")
				switch {
				case len(out.Errors) > 0:
					got = out.Text()
				case len(out.Warnings) > 0:
					check.Says(t, out.WarningText(), "Answer unclear", ids[i], "Send one message at a time")
					got = "unclear" + got + " " + stored(t, instance, "is_error")
				case instance.ID() == ids[i]:
					got = map[string]string{"true": "no answer"}[stored(t, instance, "is_error")] + got + instance.Attribute("content_json") + instance.Attribute("answered_at")
				case stored(t, instance, "is_error") == "true":
					got = "failed: " + got
				}
				check.Is(t, fmt.Sprint("answer ", i), got, m.want)
				// Whatever happens to the session, the answer is kept, and a destroy sends nothing.
				e.Journal().Reset()
				p.Plan(instance, answerTo(s.ID, ids[i])).MustDo(t, acctest.ActionNone)
				if out := p.Apply(instance, nil); len(out.Errors) > 0 || len(e.Journal().Entries()) > 0 {
					t.Errorf("%s, after %d requests", out.Text(), len(e.Journal().Entries()))
				}
			}
		})
	}
}

// An answer that the service has had for long is stored at once, and one that it may still list in part is not.
func TestSessionAnswer_ofAnOldMessage(t *testing.T) {
	t.Parallel()
	for age, atMost := range map[time.Duration]time.Duration{time.Hour: time.Second, 10 * time.Second: time.Minute} {
		e, s := newTalk(t)
		id := sendTo(e, s.ID, "a")
		e.Clock.Advance(age)
		begin := e.Clock.Now()
		_, i := e.Created(t, answerType, answerTo(s.ID, id))
		if took := e.Clock.Now().Sub(begin); i.Attribute("text") != "a" || took > atMost || age < time.Minute && took < 15*time.Second {
			t.Errorf("after %s: %q after %s", age, i.Attribute("text"), took)
		}
	}
}

// All fields are those of the last message. An answer without text has null.
func TestSessionAnswer_everyField(t *testing.T) {
	t.Parallel()
	e, s := newTalk(t)
	for _, block := range []string{text("Done."), `{"source":{"data":"aaaa","mediaType":"image/png","type":"base64"},"type":"image"}`} {
		say(t, e, s.ID, "user", text("Draw"))
		e.Clock.Advance(time.Second)
		say(t, e, s.ID, "assistant", block)
		e.Clock.Advance(time.Minute)
		answer, message := saidIn(e, s.ID, "assistant")[0], saidIn(e, s.ID, "user")[0]
		_, i := e.Created(t, answerType, answerTo(s.ID, message.ID))
		said, _ := answer.Content[0]["text"].(string)
		if i.ID() != answer.ID || i.Attribute("text") != said || stored(t, i, "is_error") != "false" || i.Attribute("content_json") != "["+block+"]" {
			t.Errorf("%s is not %v", i.State, answer)
		}
		if at, err := time.Parse(time.RFC3339, i.Attribute("answered_at")); err != nil || e.Clock.Now().Sub(at) > 5*time.Minute {
			t.Errorf("answered at %s", i.Attribute("answered_at"))
		}
	}
}

// A text that the agent writes during its work is no answer. Neither is it while the rate limit hides the work between two polls, in
// both of which the session is idle.
func TestSessionAnswer_textDuringTheWork(t *testing.T) {
	t.Parallel()
	for _, hidden := range []string{"", "42", "92"} {
		t.Run(hidden, func(t *testing.T) {
			t.Parallel()
			e, s := newTalk(t)
			script(t, e, s.ID, emulator.SessionAnswer{Text: "Done", After: 30 * time.Second})
			id := sendTo(e, s.ID, "Fix it")
			say(t, e, s.ID, "assistant", text("Looking"))
			if hidden != "" {
				e.Faults().Add(emulator.Fault{Operation: "getSession", Kind: emulator.FaultRateLimited, RetryAfter: hidden, After: 1, Times: 1})
			}
			_, i := e.Created(t, answerType, answerTo(s.ID, id))
			check.Is(t, "the text", i.Attribute("text"), "Done")
		})
	}
}

func TestSessionAnswer_errors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, e *acctest.Env, id string) // Between the message and the wait.
		message string
		at      string
		want    []string
		took    time.Duration // At most.
	}{
		"too slow": {want: []string{"Timed out waiting for the agent", "still \"running\" after 30m0s", "The agent was not stopped", "raise the timeout in the timeouts block"}, took: 31 * time.Minute},
		"unknown message": {
			prepare: func(_ *testing.T, e *acctest.Env, _ string) { e.Clock.Advance(24 * time.Hour) },
			message: "other", want: []string{"Message not found", "does not list message other", "Check the IDs"}, took: 2 * time.Minute,
		},
		"deleted session": {
			prepare: func(_ *testing.T, e *acctest.Env, id string) { deleted(e, sessionsRoute+"/"+id) },
			at:      "session_id", want: []string{"Cannot read answer", "404", "The session was not found"}, took: time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := newTalk(t)
			script(t, e, s.ID, emulator.SessionAnswer{After: time.Hour, ToolUses: 9})
			id := sendTo(e, s.ID, "Fix it")
			if tc.prepare != nil {
				tc.prepare(t, e, s.ID)
			}
			if tc.message != "" {
				id = tc.message
			}
			begin := e.Clock.Now()
			e.MustNotCreate(t, answerType, answerTo(s.ID, id), tc.at, tc.want...)
			if took := e.Clock.Now().Sub(begin); took > tc.took {
				t.Errorf("it waited %s", took)
			}
		})
	}
	e := acctest.New(t)
	for at, config := range map[string]acctest.Values{
		"session_id": answerTo(" ", "m"), "message_id": answerTo("s", " "),
		"timeouts.create": {"session_id": "s", "message_id": "m", "timeouts": map[string]any{"create": "0s"}},
	} {
		e.MustNotCreate(t, answerType, config, at)
	}
}

// Ctrl-C ends the wait, and stores nothing.
func TestSessionAnswer_stopped(t *testing.T) {
	t.Parallel()
	var process *acctest.Process
	e := acctest.New(t, acctest.Hold("listSessionMessages", func(<-chan struct{}) { process.Stop() }))
	s := makeTalk(e, newComputer(e, "dev"), nil)
	id := sendTo(e, s.ID, "Fix it")
	process = acctest.NewProcess(t, e, nil)
	i := process.NewInstance(answerType)
	process.Apply(i, answerTo(s.ID, id)).MustFail(t, "", "Interrupted before the agent answered", id, "The agent was not stopped", "agentyard_session_interrupt")
	check.Is(t, "the state is empty", i.State.IsNull(), true)
}
