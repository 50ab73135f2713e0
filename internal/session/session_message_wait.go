package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
)

const (
	// listedWithin is how long nothing must have happened in an idle session before its listed messages are complete. An earlier list
	// may end with a text that the agent wrote during its work.
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
	turnSilent   = "silent"
)

var turnStates = wait.States{
	Done:       []string{turnAnswered},
	InProgress: []string{sessions.StatusIdle, sessions.StatusPending, sessions.StatusRunning},
	Failed:     []string{turnSilent, turnUnclear},
}

// turnWait waits for the agent's answer to a message.
type turnWait struct {
	client  *client.Client
	session string
	// message may have only an ID.
	message sessions.Message
	tell    crud.Tell
	// timeout is the attribute in the timeouts block.
	timeout string

	// seen is the session at the last look, and quietSince the local time since when it has been unchanged.
	seen       sessions.Session
	quietSince time.Time
	isListed   bool
	answer     *sessions.Message
	// told is the session as last reported, and toldAt when.
	told   sessions.Session
	toldAt time.Time
}

// run returns the agent's answer, which may be an error of the agent.
func (w *turnWait) run(ctx context.Context, timeout time.Duration) (*sessions.Message, error) {
	mayBeOld := w.message.CreatedAt == 0
	_, err := wait.For(ctx, w.client.Conn.Clock, timeout, wait.Object[string]{
		Next: func(ctx context.Context, pause time.Duration) (*string, error) {
			if mayBeOld {
				mayBeOld, pause = false, 0
			}
			if err := w.client.Conn.Clock.Sleep(ctx, pause); err != nil {
				return nil, err
			}
			status, err := w.look(ctx)
			return &status, err
		},
		Status: func(status *string) string { return *status },
		States: turnStates,
	})
	if err != nil {
		return nil, w.explain(err)
	}
	return w.answer, nil
}

// look returns the status of the turn. The agent has finished when the session stays idle and lists an answer. A session may
// also be idle because its status is out of date, or because the agent was stopped. What happened before the first look is known
// by the service's times.
func (w *turnWait) look(ctx context.Context) (string, error) {
	asked := w.client.Conn.Clock.Now()
	s, err := w.client.Sessions.GetUncached(ctx, w.session, "")
	if err != nil {
		return "", err
	}
	w.report(s)
	now := w.client.Conn.Clock.Now()
	// A slow response may show the session as it was at the time of the request.
	serviceTime := cmp.Or(w.client.Conn.ServiceTime(), now).Add(asked.Sub(now))
	switch {
	case w.seen.Status == "":
		w.quietSince = asked.Add(-serviceTime.Sub(max(s.UpdatedAt, w.message.CreatedAt).Time()))
	case s.Status != w.seen.Status || s.MessageCount != w.seen.MessageCount || s.UpdatedAt != w.seen.UpdatedAt:
		w.quietSince = now // The agent may have worked between two looks.
	}
	w.seen = *s
	var quiet time.Duration
	if s.Status == sessions.StatusIdle {
		quiet = asked.Sub(w.quietSince)
	}
	isUnknown := w.message.CreatedAt == 0
	if quiet < listedWithin && !isUnknown {
		return s.Status, nil
	}
	turn, err := w.client.Sessions.Turn(ctx, w.session, &w.message)
	if err != nil {
		return "", err
	}
	w.isListed = turn.Message != nil
	switch {
	case isUnknown && w.isListed:
		w.message.CreatedAt = turn.Message.CreatedAt
	case isUnknown: // It is newer than all messages that are listed.
		w.message.CreatedAt, w.quietSince = wire.Millis(serviceTime.UnixMilli()), now
		return s.Status, nil
	}
	quiet = min(quiet, serviceTime.Sub(turn.Newest))
	isOver := turn.Next != nil && serviceTime.Sub(turn.Next.CreatedAt.Time()) >= listedWithin
	w.answer = turn.Answer
	switch {
	case quiet < listedWithin && !isOver:
		return s.Status, nil
	case turn.IsUnclear:
		return turnUnclear, nil
	case turn.Answer != nil:
		return turnAnswered, nil
	case quiet >= silencePatience:
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

// explain says why there is no answer.
func (w *turnWait) explain(err error) error {
	var failed *wait.FailedError
	var late *wait.TimeoutError
	about := fmt.Sprintf("Message %s was sent to session %s", w.message.ID, w.session)
	if !w.isListed {
		about = fmt.Sprintf("Session %s does not list message %s", w.session, w.message.ID)
	}
	switch {
	case errors.As(err, &failed) && failed.Status == turnUnclear:
		return &crud.ObjectError{Summary: "Answer Unclear",
			Detail: about + ", and the agent has finished. The agent was at work when a message arrived, or was interrupted before, so the messages do not show which answer belongs to this one.\n\n" +
				"Read the answers with the data source agentyard_session_messages. Send the next message only after the agent has answered."}
	case errors.As(err, &failed) && !w.isListed:
		return &crud.ObjectError{Summary: "Message Not Found",
			Detail: fmt.Sprintf("%s, although the session has been idle for %.0f seconds. Check the IDs with the data source agentyard_session_messages.", about, silencePatience.Seconds())}
	case errors.As(err, &failed):
		return &crud.ObjectError{Summary: "No Answer From the Agent",
			Detail: fmt.Sprintf("%s, but the session has been idle for %.0f seconds and lists no answer. The agent may have been interrupted. ", about, silencePatience.Seconds()) +
				"Check the session with the data source agentyard_session_messages. If the agent did not do the task, send it again."}
	case errors.As(err, &late):
		return &crud.ObjectError{Summary: "Timed Out Waiting for the Agent",
			Detail: fmt.Sprintf("%s, and the agent has not answered: %s. The agent was not stopped. To allow more time, raise %s in the timeouts block.", about, late, w.timeout)}
	case errors.Is(err, context.Canceled):
		return &crud.ObjectError{Summary: "Interrupted Before the Agent Answered",
			Detail: about + ". The agent was not stopped. To stop it, use agentyard_session_interrupt."}
	}
	found := &crud.ObjectError{Summary: "Cannot Wait for the Agent", Detail: fmt.Sprintf("The answer to message %s of session %s cannot be read: %s\n\n%s", w.message.ID, w.session, apierror.Sentences(err), apierror.Remedy("read", "session", err, atSession, ownersOnly))}
	if transport.IsNotFound(err) {
		found.At = path.Root("session_id")
	}
	return found
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
