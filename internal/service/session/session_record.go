// Package session contains the Terraform objects for agent sessions.
package session

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// sessionRecord has no updated_at and no service_credits: in a resource, they would change with every step of the agent, and
// listings lack the credits.
type sessionRecord struct {
	ID              types.String `tfsdk:"id"`
	ParentSessionID types.String `tfsdk:"parent_session_id"`
	Title           types.String `tfsdk:"title"`
	Status          types.String `tfsdk:"status"`
	MessageCount    types.Int64  `tfsdk:"message_count"`
	CreatedAt       types.String `tfsdk:"created_at"`
	CompletedAt     types.String `tfsdk:"completed_at"`
	ComputerID      types.String `tfsdk:"computer_id"`
	SessionSettings types.Object `tfsdk:"session_settings"`
}

// sessionResults describes the fields of a sessionRecord.
var sessionResults = results.Fields[*sessions.Session]{
	"id":                results.String("The session's ID.", func(s *sessions.Session) string { return s.ID }),
	"parent_session_id": results.String("ID of the session that started this one as a subagent.", func(s *sessions.Session) string { return s.ParentSessionID }),
	"title":             results.String("The session's title. Null until it has one.", func(s *sessions.Session) string { return s.Title }),
	"status":            results.String("The session's status. One of `idle`, `pending`, or `running`.", func(s *sessions.Session) string { return s.Status }),
	"message_count":     results.Int64("Number of messages in the session.", func(s *sessions.Session) *int64 { return &s.MessageCount }),
	"created_at":        results.Time("When the session was created (RFC 3339, UTC).", func(s *sessions.Session) time.Time { return s.CreatedAt.Time() }),
	"completed_at":      results.Time("When the session was completed (RFC 3339, UTC).", func(s *sessions.Session) time.Time { return s.CompletedAt.Time() }),
	"computer_id":       results.String("ID of the computer that the agent works on.", func(s *sessions.Session) string { return s.ComputerID }),
	"session_settings":  results.Object("The session's settings."+namesOnly+" Null if the service does not return them.", settingsResults, func(s *sessions.Session) *sessions.Settings { return s.Settings }),
}

// sessionData describes the fields of a session in data sources.
var sessionData = results.Merge(sessionResults, results.Fields[*sessions.Session]{
	"updated_at":      results.Time("When the session was last updated (RFC 3339, UTC).", func(s *sessions.Session) time.Time { return s.UpdatedAt.Time() }),
	"service_credits": results.Float64("Credits that the session and its subagents have used. Null if the service does not return it: lists may lack it"+crud.Assumed("list-sessions"), func(s *sessions.Session) *float64 { return s.ServiceCredits }),
})

// ifNew is advice for a session that was not found, because the service shows a new one late.
const ifNew = " If the session was just created, try again in a few minutes."

var ownersOnly = apierror.Advice{
	http.StatusForbidden: "Sessions are enabled for selected organizations only. If yours is one of them, use the API key of the session's owner, or of a member with the Manager role or higher.",
}

// ofComputer puts errors about the computer on computer_id.
var ofComputer = apierror.Options{
	apierror.AtStatus{http.StatusBadRequest: path.Root("computer_id"), http.StatusNotFound: path.Root("computer_id")},
	apierror.Advice{http.StatusNotFound: "The computer was not found, or the provider's API key cannot see it. Check computer_id, or omit it to return the sessions on all computers."},
}

func (m *sessionRecord) FromAPI(ctx context.Context, s *sessions.Session) diag.Diagnostics {
	return sessionResults.Into(ctx, s, m)
}
