package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// ServiceAccountDataSource is the data source agentyard_service_account.
var ServiceAccountDataSource = crud.DataSource{
	Name:        "service_account",
	Description: "Returns a service account by ID or name." + crud.ManagersOnly + crud.AssumedFormat,
	Attributes:  accountResults.ByIDOrName(),
	Validators:  crud.IDOrName(),
	Verb:        "read", Object: "service account",
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *accountRecord) error {
		found, err := findAccount(ctx, c, m)
		if err != nil {
			return err
		}
		return crud.Failure(m.FromAPI(ctx, found))
	}),
}

// findAccount looks up the account with the model's ID or name.
func findAccount(ctx context.Context, c *client.Client, m *accountRecord) (*serviceaccounts.Account, error) {
	if value.IsSet(m.ID) {
		found, err := c.ServiceAccounts.Get(ctx, m.ID.ValueString())
		if collection.IsGone(err) {
			err = noSuchAccount("id", m.ID.ValueString())
		}
		return found, err
	}
	found, err := c.ServiceAccounts.ListNamed(ctx, m.Name.ValueString())
	if err != nil {
		return nil, err
	}
	return crud.OnlyNamed("service account", m.Name.ValueString(), found, func(a *serviceaccounts.Account) string { return a.ID })
}

func noSuchAccount(argument, id string) error {
	return &crud.ObjectError{At: path.Root(argument), Summary: "Service account not found", Detail: apierror.NoSuch("service account", id)}
}
