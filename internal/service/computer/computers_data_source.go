package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type computersModel struct {
	computersFilter
	IncludeProvisioningSteps types.Bool `tfsdk:"include_provisioning_steps"`
	Computers                types.List `tfsdk:"computers"`
}

// ComputersDataSource is the data source agentyard_computers.
var ComputersDataSource = crud.DataSource{
	Name:        "computers",
	Description: "Lists the computers of the API key's owner or of a service account." + readersKey,
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
		"include_provisioning_steps": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to include `provisioning_steps`. Defaults to `false`.",
		},
		"computers": computerData.DataSourceRows("The computers, newest first."),
	},
	Verb: "list", Object: "computers", Options: apierror.Options{apierror.AtAccount},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *computersModel) error {
		filter := m.toAPI()
		filter.IncludeProvisioningSteps = m.IncludeProvisioningSteps.ValueBool()
		found, err := c.Computers.List(ctx, filter)
		m.Computers = results.RowsOf(computerData, found)
		return err
	}),
}
