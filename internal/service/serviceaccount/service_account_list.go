package serviceaccount

import (
	"context"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// ServiceAccountList is the list resource agentyard_service_account.
var ServiceAccountList = crud.ListResource{
	Name:        "service_account",
	Description: "Lists the service accounts of the organization, ordered by name." + crud.ManagersOnly + crud.AssumedFormat,
	Results: crud.ListAtOnce[accountModel]("service accounts", func(ctx context.Context, c *client.Client, _ *struct{}, _ int) ([]serviceaccounts.Account, error) {
		return c.ServiceAccounts.List(ctx)
	}, func(a *serviceaccounts.Account) string { return a.Name }),
}
