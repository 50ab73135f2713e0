// Package session holds the Terraform objects that concern agent sessions.
package session

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// sessionRecord has no updated_at: in a resource, it would change with every step of the agent.
type sessionRecord struct {
	ID              types.String  `tfsdk:"id"`
	ParentSessionID types.String  `tfsdk:"parent_session_id"`
	Title           types.String  `tfsdk:"title"`
	Status          types.String  `tfsdk:"status"`
	MessageCount    types.Int64   `tfsdk:"message_count"`
	CreatedAt       types.String  `tfsdk:"created_at"`
	CompletedAt     types.String  `tfsdk:"completed_at"`
	ComputerID      types.String  `tfsdk:"computer_id"`
	SessionSettings types.Object  `tfsdk:"session_settings"`
	ServiceCredits  types.Float64 `tfsdk:"service_credits"`
}

type sessionDataRecord struct {
	sessionRecord
	UpdatedAt types.String `tfsdk:"updated_at"`
}

func (m *sessionDataRecord) FromAPI(ctx context.Context, s *sessions.Session) diag.Diagnostics {
	m.UpdatedAt = value.Time(s.UpdatedAt.Time())
	return m.sessionRecord.FromAPI(ctx, s)
}

// sessionResults describes the fields of a sessionDataRecord.
var sessionResults = results.Plain{
	"id":                {Text: "The session's ID."},
	"parent_session_id": {Text: "ID of the session that started this one as a subagent."},
	"title":             {Text: "The session's title, usually its first prompt. Null until it has one."},
	"status":            {Text: "The session's status. One of `idle`, `pending`, or `running`."},
	"message_count":     {Text: "Number of messages in the session.", Type: types.Int64Type},
	"created_at":        {Text: "When the session was created (RFC 3339, UTC)."},
	"updated_at":        {Text: "When the session was last updated (RFC 3339, UTC)."},
	"completed_at":      {Text: "When the session was completed (RFC 3339, UTC)."},
	"computer_id":       {Text: "ID of the computer that the agent works on."},
	"session_settings":  {Text: "The session's settings. Null if the service does not return them.", Of: settingsResults},
	"service_credits":   {Text: "How much the session and its subagents have consumed, in credits. Null if the service does not return it, as in lists.", Type: types.Float64Type},
}

var ownersOnly = apierror.Advice{
	http.StatusForbidden: "Sessions are enabled for selected organizations only. If yours is one of them, use the API key of the session's owner, or of a human with the Manager role or higher.",
}

// ofComputer puts errors about the computer on computer_id.
var ofComputer = apierror.Options{
	apierror.AtStatus{http.StatusBadRequest: path.Root("computer_id"), http.StatusNotFound: path.Root("computer_id")},
	apierror.Advice{http.StatusNotFound: "The computer was not found, or the provider's API key cannot see it. Check computer_id, or omit it to return the sessions on all computers."},
}

func (m *sessionRecord) FromAPI(ctx context.Context, s *sessions.Session) diag.Diagnostics {
	m.ID = types.StringValue(s.ID)
	m.ParentSessionID = value.StringOrNull(s.ParentSessionID)
	m.Title = value.StringOrNull(s.Title)
	m.Status = types.StringValue(s.Status)
	m.MessageCount = types.Int64Value(s.MessageCount)
	m.CreatedAt = value.Time(s.CreatedAt.Time())
	m.CompletedAt = value.Time(s.CompletedAt.Time())
	m.ComputerID = value.StringOrNull(s.ComputerID)
	m.ServiceCredits = types.Float64PointerValue(s.ServiceCredits)
	var diags diag.Diagnostics
	m.SessionSettings, diags = settingsFromAPI(ctx, s.Settings)
	return diags
}
