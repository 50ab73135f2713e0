package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
)

const (
	// listedWithin is how long a session must be idle and unchanged before its listed messages are complete. An earlier list may
	// end with a text that the agent wrote during its work.
	listedWithin = sessions.ListedLate + 5*time.Second
	// silencePatience is how long a session is idle before no answer is expected any more.
	silencePatience = 90 * time.Second
	// countPause is the shortest time between two progress messages about the number of messages.
	countPause = time.Minute

	answerLines = 5
	answerRunes = 500
)

// Statuses of a turn besides those of the session.
const (
	turnAnswered = "answered"
	turnUnclear  = "unclear"
	turnFailed   = "failed"
	turnSilent   = "silent"
)

var turnStates = wait.States{
	Done:       []string{turnAnswered},
	InProgress: []string{sessions.StatusIdle, sessions.StatusPending, sessions.StatusRunning},
	Failed:     []string{turnFailed, turnSilent, turnUnclear},
}

// turnWait waits for the agent's answer to a message.
type turnWait struct {
	client  *client.Client
	session string
	message *sessions.Message
	tell    crud.Tell

	// seen is the session at the last look, and idleSince the time since when it has been idle and unchanged.
	seen      sessions.Session
	idleSince time.Time
	answer    *sessions.Message
	// told is the session as last reported, and toldAt when.
	told   sessions.Session
	toldAt time.Time
}

// run returns the agent's answer.
func (w *turnWait) run(ctx context.Context, timeout time.Duration) (*sessions.Message, error) {
	_, err := wait.For(ctx, w.client.Conn.Clock, timeout, wait.Object[string]{
		Next: func(ctx context.Context, pause time.Duration) (*string, error) {
			if err := w.client.Conn.Clock.Sleep(ctx, pause); err != nil {
				return nil, err
			}
			status, err := w.look(ctx)
			return &status, err
		},
		Status: func(status *string) string { return *status },
		States: turnStates,
	})
	return w.answer, err
}

// look returns the status of the turn. The agent has finished when the session stays idle and lists an answer. A session may
// also be idle because its status is out of date, or because the agent was stopped.
func (w *turnWait) look(ctx context.Context) (string, error) {
	s, err := w.client.Sessions.GetUncached(ctx, w.session, "")
	if err != nil {
		return "", err
	}
	w.report(s)
	now := w.client.Conn.Clock.Now()
	// The agent may have worked between two looks.
	if s.Status != w.seen.Status || s.MessageCount != w.seen.MessageCount || s.UpdatedAt != w.seen.UpdatedAt {
		w.idleSince = now
	}
	w.seen = *s
	if s.Status != sessions.StatusIdle || now.Sub(w.idleSince) < listedWithin {
		return s.Status, nil
	}
	w.answer, err = w.client.Sessions.Answer(ctx, w.session, w.message)
	switch {
	case errors.Is(err, sessions.ErrUnclearAnswer):
		return turnUnclear, nil
	case err != nil:
		return "", err
	case w.answer != nil && w.answer.IsError:
		return turnFailed, nil
	case w.answer != nil:
		return turnAnswered, nil
	case now.Sub(w.idleSince) >= silencePatience:
		return turnSilent, nil
	}
	return s.Status, nil
}

// report sends progress when the status changes, and from time to time when there are more messages.
func (w *turnWait) report(s *sessions.Session) {
	now := w.client.Conn.Clock.Now()
	if s.Status == w.told.Status && (s.MessageCount == w.told.MessageCount || now.Sub(w.toldAt) < countPause) {
		return
	}
	w.told, w.toldAt = *s, now
	w.tell("Session %s is %s, with %s", w.session, s.Status, phrase.Count(int(s.MessageCount), "message"))
}

// explain says why there is no successful answer.
func (w *turnWait) explain(err error) error {
	var failed *wait.FailedError
	var late *wait.TimeoutError
	about := fmt.Sprintf("Message %s was sent to session %s", w.message.ID, w.session)
	switch {
	case errors.As(err, &failed) && failed.Status == turnFailed:
		return &crud.ObjectError{Summary: "Agent Failed",
			Detail: fmt.Sprintf("%s, and the agent answered with an error:\n%s\n\nCheck what the agent did with the data source agentyard_session_messages. Then fix the cause, and invoke the action again.", about, firstLines(w.answer.Text()))}
	case errors.As(err, &failed) && failed.Status == turnUnclear:
		return &crud.ObjectError{Summary: "Answer Unclear",
			Detail: about + ", and the agent has finished. Another message was sent to the session too, so the messages do not show which answer belongs to this one.\n\n" +
				"Read the answers with the data source agentyard_session_messages. Send the next message only after the agent has answered."}
	case errors.As(err, &failed):
		return &crud.ObjectError{Summary: "No Answer From the Agent",
			Detail: fmt.Sprintf("%s, but the session has been idle for %.0f seconds and lists no answer. The agent may have been interrupted. ", about, silencePatience.Seconds()) +
				"Check the session with the data source agentyard_session_messages. If the agent did not do the task, invoke the action again."}
	case errors.As(err, &late):
		return &crud.ObjectError{Summary: "Timed Out Waiting for the Agent",
			Detail: fmt.Sprintf("%s, but the agent has not answered: %s. The agent was not stopped. To allow more time, raise invoke in the timeouts block.", about, late)}
	case errors.Is(err, context.Canceled):
		return &crud.ObjectError{Summary: "Interrupted Before the Agent Answered",
			Detail: about + ". The agent was not stopped. To stop it, invoke the action agentyard_session_interrupt."}
	}
	return &crud.ObjectError{Summary: "Cannot Wait for the Agent", Detail: fmt.Sprintf("%s, but its answer cannot be read: %s\n\n%s", about, apierror.Sentences(err), apierror.Remedy("read", "session", err, atSession, ownersOnly))}
}

// firstLines returns the beginning of an answer, without control characters.
func firstLines(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, strings.TrimSpace(text))
	lines := strings.SplitN(text, "\n", answerLines+1)
	shown := strings.Join(lines[:min(len(lines), answerLines)], "\n")
	if utf8.RuneCountInString(shown) > answerRunes {
		shown = string([]rune(shown)[:answerRunes])
	}
	if shown != text {
		shown += " …"
	}
	return shown
}
