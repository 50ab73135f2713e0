package serviceaccount

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ datasource.DataSourceWithConfigure        = (*accountDataSource)(nil)
	_ datasource.DataSourceWithConfigValidators = (*accountDataSource)(nil)
)

// NewServiceAccountDataSource returns the data source agentyard_service_account.
func NewServiceAccountDataSource() datasource.DataSource { return &accountDataSource{} }

type accountDataSource struct{ crud.DataSourceBase }

func (d *accountDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_service_account"
}

func (d *accountDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "One service account, by its ID or its name." + managersOnly,
		Attributes:          accountResults.DataSourceByIDOrName(128),
	}
}

func (d *accountDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("name"))}
}

func (d *accountDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "service account", req, resp, func(m *accountModel) (*client.ServiceAccount, error) {
		if value.IsSet(m.ID) {
			found, err := d.Client.ServiceAccount(ctx, m.ID.ValueString())
			if client.IsGone(err) {
				err = noSuchAccount("id", m.ID.ValueString())
			}
			return found, err
		}
		found, err := d.Client.ServiceAccountsNamed(ctx, m.Name.ValueString())
		if err != nil {
			return nil, err
		}
		return crud.OnlyNamed("service account", m.Name.ValueString(), found, func(a *client.ServiceAccount) string { return a.ID })
	})
}

func noSuchAccount(argument, id string) error {
	return &crud.Fault{At: path.Root(argument), Summary: "Service Account Not Found", Detail: fmt.Sprintf("The organization has no service account with ID %q. Check the value; a deleted account is not found.", id)}
}
