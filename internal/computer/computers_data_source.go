package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*computersDataSource)(nil)

// NewComputersDataSource returns the data source agentyard_computers.
func NewComputersDataSource() datasource.DataSource { return &computersDataSource{} }

type computersDataSource struct{ crud.DataSourceBase }

type computersModel struct {
	HostID                   types.String      `tfsdk:"host_id"`
	ServiceAccountID         types.String      `tfsdk:"service_account_id"`
	IncludeUnlisted          types.Bool        `tfsdk:"include_unlisted"`
	IncludeProvisioningSteps types.Bool        `tfsdk:"include_provisioning_steps"`
	Computers                []computerDetails `tfsdk:"computers"`
}

// FromAPI takes over the listing.
func (m *computersModel) FromAPI(ctx context.Context, found *[]computers.Computer) (diags diag.Diagnostics) {
	m.Computers, diags = crud.Each[computerDetails](ctx, *found)
	return diags
}

func (d *computersDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computers"
}

func (d *computersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The computers of the API key's owner, or of a service account, newest first.",
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
			"include_provisioning_steps": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether `provisioning_steps` are included. Null means `false`.",
			},
			"computers": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The computers; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: computerDetailResults().DataSource()},
			},
		},
	}
}

func (d *computersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "computers", req, resp, func(m *computersModel) (*[]computers.Computer, error) {
		found, err := d.Client.Computers.List(ctx, computers.Filter{
			HostID:                   m.HostID.ValueString(),
			ServiceAccountID:         m.ServiceAccountID.ValueString(),
			IncludeUnlisted:          m.IncludeUnlisted.ValueBool(),
			IncludeProvisioningSteps: m.IncludeProvisioningSteps.ValueBool(),
		})
		return &found, err
	}, computerFields)
}
