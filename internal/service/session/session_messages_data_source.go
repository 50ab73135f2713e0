package session

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type sessionMessagesModel struct {
	SessionID  types.String `tfsdk:"session_id"`
	Roles      []string     `tfsdk:"roles"`
	MaxResults types.Int64  `tfsdk:"max_results"`
	Messages   types.List   `tfsdk:"messages"`
}

// messageResults describes the fields of a message.
var messageResults = results.Fields[*sessions.Message]{
	"id":           results.String("The message's ID.", func(m *sessions.Message) string { return m.ID }),
	"role":         results.String("Who wrote the message. One of `user`, `assistant`, `tool`, or `system`.", func(m *sessions.Message) string { return m.Role }),
	"created_at":   results.Time("When the message was created (RFC 3339, UTC).", func(m *sessions.Message) time.Time { return m.CreatedAt.Time() }),
	"text":         results.String("The message's text blocks, joined by line breaks. Null if it has none.", (*sessions.Message).Text),
	"content_json": results.JSON("All blocks of the message, as JSON, in the service's format.", func(m *sessions.Message) json.RawMessage { return m.Content }),
	"is_error":     results.Bool("Whether the message reports an error.", func(m *sessions.Message) *bool { return &m.IsError }),
}

// atSession puts the error about an unknown session on session_id.
var atSession = apierror.Options{
	apierror.AtStatus{http.StatusNotFound: path.Root("session_id")},
	apierror.Advice{http.StatusNotFound: "The session was not found. Check session_id." + ifNew},
}

// sessionIDArgument is the session that a data source or an operation is about.
var sessionIDArgument = crud.RequiredNotBlank("ID of the session.", "Set the ID of a session.")

// SessionMessagesDataSource is the data source agentyard_session_messages.
var SessionMessagesDataSource = crud.DataSource{
	Name: "session_messages",
	Description: "Returns the messages of a session: those that its agent got, and those that it wrote." + ownersSession + "\n\n" +
		"-> **Late messages.** A new message can take 20 seconds or more to appear in this list. To wait for an answer, use the resource `agentyard_session_answer`." + crud.WeakEvidence,
	Attributes: map[string]schema.Attribute{
		"session_id": sessionIDArgument,
		"roles": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Return only messages of these roles: `user`, `assistant`, `tool`, or `system`. Defaults to all roles.",
			Validators: []validator.Set{
				setvalidator.SizeAtLeast(1),
				setvalidator.ValueStringsAre(value.OneOf(sessions.RoleUser, sessions.RoleAssistant, sessions.RoleTool, sessions.RoleSystem)),
			},
		},
		"max_results": results.MaxResults("Maximum number of messages to return, the newest ones. Defaults to all messages."),
		"messages":    messageResults.DataSourceRows("The messages, newest last."),
	},
	Verb: "list", Object: "messages", Options: apierror.Options{atSession, ownersOnly},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *sessionMessagesModel) error {
		found, err := c.Sessions.Messages(ctx, m.SessionID.ValueString(), m.Roles, int(m.MaxResults.ValueInt64()))
		m.Messages = results.RowsOf(messageResults, found)
		return err
	}),
}
