package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

type accountsModel struct {
	ServiceAccounts types.List `tfsdk:"service_accounts"`
}

// NewServiceAccountsDataSource returns the data source agentyard_service_accounts.
func NewServiceAccountsDataSource() datasource.DataSource {
	return &crud.DataSource[accountsModel]{
		Name:        "service_accounts",
		Description: "Lists all service accounts of the organization." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"service_accounts": accountResults.DataSourceList("The service accounts, ordered by name."),
		},
		Verb: "list", Object: "service accounts",
		Fetch: func(ctx context.Context, c *client.Client, m *accountsModel) error {
			found, err := c.ServiceAccounts.List(ctx)
			m.ServiceAccounts = accountResults.List(found)
			return err
		},
	}
}
