package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// computersFilter are the arguments that the list resource and the data source share.
type computersFilter struct {
	HostID           types.String `tfsdk:"host_id"`
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	IncludeUnlisted  types.Bool   `tfsdk:"include_unlisted"`
}

func (f *computersFilter) toAPI() computers.Filter {
	return computers.Filter{HostID: f.HostID.ValueString(), ServiceAccountID: f.ServiceAccountID.ValueString(), IncludeUnlisted: f.IncludeUnlisted.ValueBool()}
}

// ComputerList is the list resource agentyard_computer.
var ComputerList = crud.ListResource{
	Name:        "computer",
	Description: "Lists the computers of the API key's owner or of a service account, newest first." + readersKey,
	Attributes: map[string]schema.Attribute{
		"host_id": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Return only the computer with this `host_id`, as a UUID.",
			Validators:          []validator.String{value.UUID()},
		},
		"service_account_id": crud.OptionalText("Return the computers of this service account. Defaults to the API key's owner."),
		"include_unlisted": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to include unlisted computers. Defaults to `false`.",
		},
	},
	Results: crud.ListAtOnce[computerModel]("computers", func(ctx context.Context, c *client.Client, config *computersFilter, _ int) ([]computers.Computer, error) {
		return c.Computers.List(ctx, config.toAPI())
	}, func(c *computers.Computer) string { return c.Name }, apierror.AtAccount),
}
