package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ list.ListResourceWithConfigure = (*computerList)(nil)

// NewComputerList returns the list resource agentyard_computer.
func NewComputerList() list.ListResource {
	return &computerList{computerResource{crud.Resource{Name: "computer"}}}
}

// computerList has the type name of computerResource, as a list resource must.
type computerList struct{ computerResource }

type computerListModel struct {
	HostID           types.String `tfsdk:"host_id"`
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	IncludeUnlisted  types.Bool   `tfsdk:"include_unlisted"`
}

func (l *computerList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the computers of the API key's owner or of a service account, newest first." + readersKey,
		Attributes: map[string]schema.Attribute{
			"host_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Return only the computer with this `host_id`, as a UUID.",
				Validators:          []validator.String{value.UUID()},
			},
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Return the computers of this service account. Defaults to the API key's owner.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"include_unlisted": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether to include unlisted computers. Defaults to `false`.",
			},
		},
	}
}

func (l *computerList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var m computerListModel
	if diags := req.Config.Get(ctx, &m); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	filter := computers.Filter{
		HostID:           m.HostID.ValueString(),
		ServiceAccountID: m.ServiceAccountID.ValueString(),
		IncludeUnlisted:  m.IncludeUnlisted.ValueBool(),
	}
	all := crud.AtOnce(func() ([]computers.Computer, error) {
		computers, err := l.Client.Computers.List(ctx, filter)
		for i := range computers {
			computers[i].IsCallers = filter.ServiceAccountID == ""
		}
		return computers, err
	})
	crud.List[computerModel](ctx, "computers", req, stream, all, func(c *computers.Computer) string { return c.Name })
}
