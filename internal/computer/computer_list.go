package computer

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ list.ListResourceWithConfigure = (*computerList)(nil)

// NewComputerList returns the list resource agentyard_computer.
func NewComputerList() list.ListResource { return &computerList{} }

// computerList has the type name of computerResource, as a list resource must.
type computerList struct{ computerResource }

type computerListModel struct {
	HostID           types.String `tfsdk:"host_id"`
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	IncludeUnlisted  types.Bool   `tfsdk:"include_unlisted"`
}

func (l *computerList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the computers of the API key's owner, or of a service account, newest first.",
		Attributes: map[string]schema.Attribute{
			"host_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Only the computer on this host (UUID).",
				Validators:          []validator.String{value.UUID()},
			},
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The computers of this service account. Needs the key of a human with the Manager role or higher.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"include_unlisted": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether hidden computers are included. Null means `false`.",
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
	filter := client.ComputerFilter{
		HostID:                   m.HostID.ValueString(),
		ServiceAccountID:         m.ServiceAccountID.ValueString(),
		IncludeUnlisted:          m.IncludeUnlisted.ValueBool(),
		IncludeProvisioningSteps: req.IncludeResource,
	}
	crud.List(ctx, "computers", req, stream, l.all(ctx, filter),
		func(c *client.Computer) string { return c.Name },
		func(m *computerModel) { m.WaitForActive = types.BoolValue(true) })
}

// all yields the computers that one request returns: the operation has no pages.
func (l *computerList) all(ctx context.Context, filter client.ComputerFilter) iter.Seq2[client.Computer, error] {
	return func(yield func(client.Computer, error) bool) {
		computers, err := l.Client.Computers(ctx, filter)
		if err != nil {
			yield(client.Computer{}, err)
			return
		}
		for _, computer := range computers {
			if !yield(computer, nil) {
				return
			}
		}
	}
}
