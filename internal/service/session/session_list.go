package session

import (
	"cmp"
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ list.ListResourceWithConfigure = (*sessionList)(nil)

// NewSessionList returns the list resource agentyard_session.
func NewSessionList() list.ListResource {
	return &sessionList{sessionResource{crud.Resource{Name: "session"}}}
}

// sessionList has the type name of sessionResource, as a list resource must.
type sessionList struct{ sessionResource }

type sessionListModel struct {
	ComputerID types.String `tfsdk:"computer_id"`
}

func (l *sessionList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the sessions of the API key's owner, usually newest first. " + sessionText + "\n\n" +
			"A new session can take several seconds to appear. " +
			"Sessions without a computer are included; set `computer_id` in their generated configuration.",
		Attributes: map[string]schema.Attribute{
			"computer_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Return only the sessions on this computer. If omitted, returns all sessions, including those without a computer.",
				Validators:          []validator.String{value.NotBlank("Set the ID of a computer, or omit it.")},
			},
		},
	}
}

func (l *sessionList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var m sessionListModel
	if diags := req.Config.Get(ctx, &m); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	displayName := func(a *sessionResponse) string { return cmp.Or(a.Title, a.ID) }
	crud.List[sessionModel](ctx, "sessions", req, stream, l.sessions(ctx, m.ComputerID.ValueString(), int(req.Limit)), displayName, ofComputer, ownersOnly)
}

// sessions is lazy: Terraform may need the first page only.
func (l *sessionList) sessions(ctx context.Context, computer string, limit int) iter.Seq2[sessionResponse, error] {
	return func(yield func(sessionResponse, error) bool) {
		for s, err := range l.Client.Sessions.All(ctx, computer, limit) {
			if s.Settings != nil {
				settings := *s.Settings
				settings.AutonomyMode = nil // Deprecated, so generated configuration leaves it out.
				s.Settings = &settings
			}
			if !yield(sessionResponse{Session: &s}, err) {
				return
			}
		}
	}
}
