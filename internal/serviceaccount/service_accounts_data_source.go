package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ datasource.DataSourceWithConfigure = (*accountsDataSource)(nil)

// NewServiceAccountsDataSource returns the data source agentyard_service_accounts.
func NewServiceAccountsDataSource() datasource.DataSource { return &accountsDataSource{} }

type accountsDataSource struct{ crud.DataSourceBase }

type accountsModel struct {
	ServiceAccounts []accountModel `tfsdk:"service_accounts"`
}

// FromAPI takes over the listing.
func (m *accountsModel) FromAPI(ctx context.Context, found *[]client.ServiceAccount) (diags diag.Diagnostics) {
	m.ServiceAccounts, diags = crud.Each[accountModel](ctx, *found)
	return diags
}

func (d *accountsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_service_accounts"
}

func (d *accountsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "All service accounts of the organization." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"service_accounts": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The service accounts, ordered by name; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: accountResults.DataSource()},
			},
		},
	}
}

func (d *accountsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "service accounts", req, resp, func(*accountsModel) (*[]client.ServiceAccount, error) {
		found, err := d.Client.ServiceAccounts(ctx)
		return &found, err
	})
}
