package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

type sessionAnswerModel struct {
	answerRecord
	SessionID types.String   `tfsdk:"session_id"`
	MessageID types.String   `tfsdk:"message_id"`
	Timeouts  timeouts.Value `tfsdk:"timeouts"`
}

type answerRecord struct {
	ID          types.String         `tfsdk:"id"`
	Text        types.String         `tfsdk:"text"`
	IsError     types.Bool           `tfsdk:"is_error"`
	ContentJSON jsontypes.Normalized `tfsdk:"content_json"`
	AnsweredAt  types.String         `tfsdk:"answered_at"`
}

// answerResults describes the fields of an answer.
var answerResults = results.Fields[*sessions.Message]{
	"id":           results.String("The answer's ID, which is that of the last message of the agent's turn.", func(m *sessions.Message) string { return m.ID }),
	"text":         results.String("The answer's text blocks, joined by line breaks. Null if it has none.", (*sessions.Message).Text),
	"is_error":     results.Bool("Whether the agent reports an error.", func(m *sessions.Message) *bool { return &m.IsError }),
	"content_json": results.JSON("All blocks of the answer, as JSON, in the service's format.", func(m *sessions.Message) json.RawMessage { return m.Content }),
	"answered_at":  results.Time("When the answer was created (RFC 3339, UTC).", func(m *sessions.Message) time.Time { return m.CreatedAt.Time() }),
}

// NewSessionAnswerDataSource returns the data source agentyard_session_answer.
func NewSessionAnswerDataSource() datasource.DataSource {
	attributes := answerResults.DataSource()
	attributes["session_id"] = sessionIDArgument()
	attributes["message_id"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "ID of the message, such as the `id` of `agentyard_session_message`.",
		Validators:          []validator.String{value.NotBlank("Set the ID of a message.")},
	}
	return &crud.DataSource{
		Name: "session_answer",
		Description: "Waits for the agent's answer to a message, and returns it. " + sessionText + "\n\n" +
			"**Waiting.** The answer is the agent's last message after yours, and before the next one that the agent was sent. The service lists messages late, so a new answer takes at least 30 seconds. " +
			"An old answer is returned at once, by every plan. While the agent is at work, a plan that knows `message_id` waits too.\n\n" +
			"**Failed agents.** If the agent reports an error, `is_error` is `true`, and the read succeeds. To fail the apply, use a `postcondition` as in the example.\n\n" +
			"**Unclear answers.** The read fails if the messages do not show which answer belongs to the message. This happens if the agent was at work when the message arrived, " +
			"or was interrupted before it. Send one message at a time to a session." + crud.WeakEvidence,
		Attributes: attributes,
		Blocks: map[string]schema.Block{
			"timeouts": value.DataSourceTimeouts(timeouts.BlockWithOpts(context.Background(), timeouts.Opts{ReadDescription: "Maximum time to wait for the agent. Defaults to `30m`."})),
		},
		Verb: "read", Object: "answer", Options: apierror.Options{atSession, ownersOnly},
		Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *sessionAnswerModel) error {
			if err := c.Conn.Configured(); err != nil {
				return err // The wait would try again.
			}
			timeout, diags := m.Timeouts.Read(ctx, defaultAgentTimeout)
			if diags.HasError() {
				return crud.Failure(diags)
			}
			w := &turnWait{client: c, session: m.SessionID.ValueString(), message: sessions.Message{ID: m.MessageID.ValueString()}, timeout: "read",
				tell: func(format string, args ...any) { tflog.Info(ctx, fmt.Sprintf(format, args...)) }}
			answer, err := w.run(ctx, timeout)
			if err != nil {
				return err
			}
			return crud.Failure(answerResults.Into(ctx, answer, &m.answerRecord))
		}),
	}
}
