package session

import (
	"cmp"
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ list.ListResourceWithConfigure = (*sessionList)(nil)

// NewSessionList returns the list resource agentyard_session.
func NewSessionList() list.ListResource { return &sessionList{} }

// sessionList has the type name of sessionResource, as a list resource must.
type sessionList struct{ sessionResource }

type sessionListModel struct {
	ComputerID types.String `tfsdk:"computer_id"`
}

func (l *sessionList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the sessions of the API key's owner, in the service's order, which usually has the newest at the top. Each is shown with its title, or with its ID where it has none. " + sessionText + " " +
			"A new session is listed some seconds after it was made. What a session has consumed is known after its import only. " +
			"A session that is connected to no computer is listed too; name one in the generated configuration, for the resource has one.",
		Attributes: map[string]schema.Attribute{
			"computer_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Only the sessions on this computer. Null means those on every computer, and those on none.",
				Validators:          []validator.String{value.NotBlank("give the ID of a computer, or omit it")},
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
	displayName := func(a *answered) string { return cmp.Or(a.Title, a.ID) }
	crud.List[sessionModel](ctx, "sessions", req, stream, l.sessions(ctx, m.ComputerID.ValueString(), int(req.Limit)), displayName, ofComputer, ownersOnly)
}

// sessions asks for a page when Terraform has taken what was on those before it.
func (l *sessionList) sessions(ctx context.Context, computer string, most int) iter.Seq2[answered, error] {
	return func(yield func(answered, error) bool) {
		for s, err := range l.Client.Sessions.All(ctx, computer, most) {
			if !yield(answered{Session: &s}, err) {
				return
			}
		}
	}
}
