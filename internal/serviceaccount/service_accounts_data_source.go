package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ datasource.DataSourceWithConfigure = (*accountsDataSource)(nil)

// NewServiceAccountsDataSource returns the data source agentyard_service_accounts.
func NewServiceAccountsDataSource() datasource.DataSource { return &accountsDataSource{} }

type accountsDataSource struct{ crud.DataSource }

type accountsModel struct {
	ServiceAccounts []accountModel `tfsdk:"service_accounts"`
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
				NestedObject:        schema.NestedAttributeObject{Attributes: accountResults()},
			},
		},
	}
}

func (d *accountsDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	found, err := d.Client.ServiceAccounts(ctx)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("list", "service accounts", err)...)
		return
	}
	m := accountsModel{ServiceAccounts: make([]accountModel, len(found))}
	for i := range found {
		resp.Diagnostics.Append(m.ServiceAccounts[i].FromAPI(ctx, &found[i])...)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}
