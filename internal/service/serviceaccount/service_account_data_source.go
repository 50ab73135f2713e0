package serviceaccount

import (
	"context"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// ServiceAccountDataSource is the data source agentyard_service_account.
var ServiceAccountDataSource = crud.DataSource{
	Name:        "service_account",
	Description: "Returns a service account by ID or name." + crud.ManagersOnly + crud.AssumedFormat,
	Attributes:  accountResults.ByIDOrName(),
	Validators:  crud.IDOrName(),
	Verb:        "read", Object: "service account",
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *accountRecord) error {
		found, err := crud.FindByIDOrName(ctx, "service account", m.ID, m.Name, c.ServiceAccounts.Get, c.ServiceAccounts.List)
		if err != nil {
			return err
		}
		return crud.Failure(m.FromAPI(ctx, found))
	}),
}
