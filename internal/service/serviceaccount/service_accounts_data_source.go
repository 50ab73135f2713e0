package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type accountsModel struct {
	ServiceAccounts types.List `tfsdk:"service_accounts"`
}

// ServiceAccountsDataSource is the data source agentyard_service_accounts.
var ServiceAccountsDataSource = crud.DataSource{
	Name:        "service_accounts",
	Description: "Lists all service accounts of the organization." + crud.ManagersOnly + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"service_accounts": accountResults.DataSourceRows("The service accounts, ordered by name."),
	},
	Verb: "list", Object: "service accounts",
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *accountsModel) error {
		found, err := c.ServiceAccounts.List(ctx)
		m.ServiceAccounts = results.RowsOf(accountResults, found)
		return err
	}),
}
