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

// sessionRecord is what every object that shows sessions has of one.
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

// sessionDataRecord is a session in a data source.
type sessionDataRecord struct {
	sessionRecord
	UpdatedAt types.String `tfsdk:"updated_at"`
}

// FromAPI takes over a record.
func (m *sessionDataRecord) FromAPI(ctx context.Context, s *sessions.Session) diag.Diagnostics {
	m.UpdatedAt = value.Time(s.UpdatedAt.Time())
	return m.sessionRecord.FromAPI(ctx, s)
}

// sessionResults are the fields of a session, wherever they are shown.
var sessionResults = results.Plain{
	"id":                {Text: "The session's ID."},
	"parent_session_id": {Text: "ID of the session that started this one as a subagent."},
	"title":             {Text: "The session's title, which usually is its first prompt. Null as long as it has none."},
	"status":            {Text: "What the agent does: `idle`, `pending` or `running`."},
	"message_count":     {Text: "How many messages the session has.", Type: types.Int64Type},
	"created_at":        {Text: "When the session was created (RFC 3339, UTC)."},
	"updated_at":        {Text: "When the session was changed last (RFC 3339, UTC)."},
	"completed_at":      {Text: "When the session was completed (RFC 3339, UTC)."},
	"computer_id":       {Text: "ID of the computer on which the agent works."},
	"session_settings":  {Text: "The session's settings. Null where the service does not tell them.", Of: settingsResults},
	"service_credits":   {Text: "How many credits the session and its subagents have consumed. Null where the service does not tell, as in listings.", Type: types.Float64Type},
}

// ownersOnly is what to do where the service refuses the caller.
var ownersOnly = apierror.Advice{
	http.StatusForbidden: "Sessions are enabled for selected organizations only, and belong to whoever made them: use the API key of their owner, or of a human with the Manager role or higher.",
}

// ofComputer shows at the computer what the service refuses to list of it.
var ofComputer = apierror.Options{
	apierror.AtStatus{http.StatusBadRequest: path.Root("computer_id"), http.StatusNotFound: path.Root("computer_id")},
	apierror.Advice{http.StatusNotFound: "The API key may use no computer with this ID. Check computer_id, or omit it to have the sessions on every computer."},
}

// FromAPI takes over a record.
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
