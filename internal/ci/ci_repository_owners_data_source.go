package ci

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*ciRepositoryOwnersDataSource)(nil)

// NewCIRepositoryOwnersDataSource returns the data source agentyard_ci_repository_owners.
func NewCIRepositoryOwnersDataSource() datasource.DataSource { return &ciRepositoryOwnersDataSource{} }

type ciRepositoryOwnersDataSource struct{ crud.DataSourceBase }

type ciRepositoryOwnersModel struct {
	Owners      []ciOwnerModel    `tfsdk:"owners"`
	Integration *integrationModel `tfsdk:"integration"`
}

type ciOwnerModel struct {
	Login types.String `tfsdk:"login"`
	Type  types.String `tfsdk:"type"`
}

// FromAPI takes over the owners.
func (m *ciRepositoryOwnersModel) FromAPI(ctx context.Context, found *client.CIOwners) (diags diag.Diagnostics) {
	m.Integration = integrationOf(found.Integration)
	m.Owners, diags = crud.Each[ciOwnerModel](ctx, found.Owners)
	return diags
}

// FromAPI takes over an owner.
func (m *ciOwnerModel) FromAPI(_ context.Context, o *client.CIOwner) diag.Diagnostics {
	m.Login, m.Type = value.StringOrNull(o.Login), value.StringOrNull(o.Type)
	return nil
}

var ciOwnerResults = results.Plain{
	"login": {Text: "Name of the owner at the code host, such as `acme`."},
	"type":  {Text: "What the owner is, such as `user` or `organization`."},
}

func (d *ciRepositoryOwnersDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ci_repository_owners"
}

func (d *ciRepositoryOwnersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The owners of the repositories in which CI automation may work." + everyMember,
		Attributes:          integrationResults.DataSource(),
	}
	resp.Schema.Attributes["owners"] = listOf(ciOwnerResults, "The owners, ordered by `login`; empty if there are none, as without a connected code host.")
}

func (d *ciRepositoryOwnersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "CI repository owners", req, resp, func(*ciRepositoryOwnersModel) (*client.CIOwners, error) {
		return d.Client.CIRepositoryOwners(ctx)
	}, readAccess)
}
