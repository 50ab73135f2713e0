package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

const (
	// listedWithin is how long nothing must have happened in an idle session before its listed messages are complete. An earlier list
	// may end with a text that the agent wrote during its work.
	listedWithin = sessions.ListedLate + 5*time.Second
	// silencePatience is how long a session is idle before no answer is expected any more.
	silencePatience = 90 * time.Second

	defaultAgentTimeout = 30 * time.Minute
)

// turnEnded is the status of a turn besides those of the session.
const turnEnded = "answered"

var turnStates = wait.States{
	Done:       []string{turnEnded},
	InProgress: []string{sessions.StatusIdle, sessions.StatusPending, sessions.StatusRunning},
}

type sessionAnswerModel struct {
	SessionID types.String `tfsdk:"session_id"`
	MessageID types.String `tfsdk:"message_id"`
}

// Answer is agentyard_session_answer.
var Answer = crud.Operation{
	Name:        "session_answer",
	Description: "Waits for the agent's answer to a message, and stores it." + ownersSession,
	ResourceNotes: "\n\n**When it waits.** Creating the resource waits until the session is idle. Later plans read nothing. Changing an argument waits for another answer. Destroying the resource sends nothing.\n\n" +
		"**Which answer.** The answer is the agent's last message after yours, and before the next one of a user. Send one message at a time: otherwise, the answer may be that of another message. " +
		"The service may list messages late, so a new answer takes at least 30 seconds.\n\n" +
		"**No answer.** If the agent was interrupted, `text` is null and `is_error` is `true`. If it answered only after a later message, both are null, with a warning.\n\n" +
		"**Failed agents.** If the agent reports an error, `is_error` is `true`, and the apply succeeds. To fail the apply, use a `postcondition` as in the example. Later plans then fail too, until you change the message or replace it with `-replace`.\n\n" +
		"**Failures.** After a timeout or another failure, nothing is stored, so the next apply waits again. The agent is not stopped." + crud.WeakEvidence,
	OnlyWaits: true,
	Arguments: map[string]schema.Attribute{
		"session_id": sessionIDArgument,
		"message_id": crud.RequiredNotBlank("ID of the message, such as the `id` of `agentyard_session_message`.", "Set the ID of a message."),
	},
	Results: results.Attributes{
		"id":           results.Computed("The answer's ID. The ID of the message if there is no answer.", types.StringType),
		"text":         results.Computed("The answer's text blocks, joined by line breaks. Null if there is no text.", types.StringType),
		"is_error":     results.Computed("Whether the agent reports an error, or did not answer.", types.BoolType),
		"content_json": results.Computed("All blocks of the answer, as JSON, in the service's format. Null if there is no answer.", jsontypes.NormalizedType{}),
		"answered_at":  results.Computed("When the answer was created (RFC 3339, UTC). Null if there is no answer.", types.StringType),
	},
	Timeout:     defaultAgentTimeout,
	TimeoutText: "Maximum time to wait for the agent. Defaults to `30m`.",
	Run:         crud.Run(waitForAnswer),
	Verb:        "read", Object: "answer",
	Options: apierror.Options{atSession, ownersOnly},
}

// waitForAnswer waits until the agent has finished: until the session stays idle and lists an answer. A session may also be idle
// because its status is out of date, or because the agent was stopped.
func waitForAnswer(ctx context.Context, c *client.Client, m *sessionAnswerModel, call *crud.Call) (crud.Results, error) {
	id, message := m.SessionID.ValueString(), m.MessageID.ValueString()
	type activity struct {
		status  string
		count   int64
		changed wire.Millis
	}
	var seen activity
	var quietSince time.Time // Local time since when the session is unchanged.
	var turn sessions.Turn
	look := func(ctx context.Context, pause time.Duration) (*string, error) {
		if err := c.Conn.Clock.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		asked := c.Conn.Clock.Now()
		s, err := c.Sessions.GetUncached(ctx, id, "")
		if err != nil {
			return nil, err
		}
		if latest := (activity{s.Status, s.MessageCount, s.UpdatedAt}); latest != seen {
			seen, quietSince = latest, c.Conn.Clock.Now() // A slow response may be much newer than its request.
		}
		isOld := func(at wire.Millis) bool { return at != 0 && c.Conn.ServiceNow(ctx).Sub(at.Time()) >= listedWithin }
		quiet := asked.Sub(quietSince)
		if s.Status != sessions.StatusIdle || quiet < listedWithin && !isOld(s.UpdatedAt) {
			return &s.Status, nil
		}
		if turn, err = c.Sessions.Turn(ctx, id, message); err != nil {
			return nil, err
		}
		if turn.Answer != nil && (quiet >= listedWithin || isOld(turn.Answer.CreatedAt)) || quiet >= silencePatience {
			return new(turnEnded), nil
		}
		return &s.Status, nil
	}
	_, err := wait.For(ctx, c.Conn.Clock, call.Timeout, wait.Object[string]{
		Next: look, Status: func(status *string) string { return *status }, States: turnStates,
		OnChange: func(status *string) { call.Report("Session %s: %s", id, *status) },
	})
	if err != nil {
		return nil, notAnswered(id, message, err)
	}
	return answerOf(id, message, turn, call)
}

// answerOf returns the results of a turn that has ended.
func answerOf(id, message string, turn sessions.Turn, call *crud.Call) (crud.Results, error) {
	switch answer := turn.Answer; {
	case !turn.IsListed:
		return nil, &crud.ObjectError{Summary: "Message not found",
			Detail: fmt.Sprintf("Session %s does not list message %s, although the session has been idle for %.0f seconds. Check the IDs with the data source agentyard_session_messages.", id, message, silencePatience.Seconds())}
	case answer != nil:
		content, _ := value.JSON(answer.Content)
		return crud.Results{"id": types.StringValue(answer.ID), "text": value.StringOrNull(answer.Text()), "is_error": types.BoolValue(answer.IsError), "content_json": content, "answered_at": value.Time(answer.CreatedAt.Time())}, nil
	case turn.IsAnsweredLater:
		call.Warn("Answer unclear", fmt.Sprintf("Session %s lists no answer between message %s and the next one, but a later one. The text of the answer is null. Send one message at a time.", id, message))
		return crud.Results{"id": types.StringValue(message)}, nil
	}
	return crud.Results{"id": types.StringValue(message), "is_error": types.BoolValue(true)}, nil
}

// notAnswered says why the wait ended early.
func notAnswered(id, message string, err error) error {
	var late *wait.TimeoutError
	switch {
	case errors.As(err, &late):
		return &crud.ObjectError{Summary: "Timed out waiting for the agent",
			Detail: fmt.Sprintf("The agent has not answered message %s of session %s: %s. The agent was not stopped. To allow more time, raise the timeout in the timeouts block.", message, id, late)}
	case errors.Is(err, context.Canceled):
		return &crud.ObjectError{Summary: "Interrupted before the agent answered",
			Detail: fmt.Sprintf("The agent has not answered message %s of session %s. The agent was not stopped. To stop it, use agentyard_session_interrupt.", message, id)}
	}
	return err
}
