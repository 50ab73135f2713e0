package session

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
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
		MarkdownDescription: "Lists the sessions of the API key's owner, usually newest first." + ownSessions + "\n\n" +
			"**What is listed.** A new session can take several seconds to appear. " +
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
	displayName := func(s *sessions.Session) string { return cmp.Or(s.Title, s.ID) }
	found := crud.AtOnce(func() ([]sessions.Session, error) {
		return l.Client.Sessions.List(ctx, m.ComputerID.ValueString(), int(req.Limit))
	})
	crud.List[sessionModel](ctx, "sessions", req, stream, found, displayName, ofComputer, ownersOnly)
}
