package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type computerListModel struct {
	HostID           types.String `tfsdk:"host_id"`
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	IncludeUnlisted  types.Bool   `tfsdk:"include_unlisted"`
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
	Results: crud.ListAtOnce[computerModel]("computers", func(ctx context.Context, c *client.Client, config *computerListModel, _ int) ([]computers.Computer, error) {
		found, err := c.Computers.List(ctx, computers.Filter{
			HostID:           config.HostID.ValueString(),
			ServiceAccountID: config.ServiceAccountID.ValueString(),
			IncludeUnlisted:  config.IncludeUnlisted.ValueBool(),
		})
		for i := range found {
			found[i].IsCallers = config.ServiceAccountID.ValueString() == ""
		}
		return found, err
	}, func(c *computers.Computer) string { return c.Name }),
}
