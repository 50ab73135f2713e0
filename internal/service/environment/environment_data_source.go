package environment

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type environmentDataModel struct {
	environmentDataRecord
	ServiceAccountID types.String `tfsdk:"service_account_id"`
}

type environmentDataRecord struct {
	environmentRecord
	UpdatedAt types.String `tfsdk:"updated_at"`
}

// EnvironmentDataSource is the data source agentyard_environment.
var EnvironmentDataSource = crud.DataSource{
	Name:        "environment",
	Description: "Returns an environment by ID or name. If both scopes have an environment with the name, use the ID." + anyViewer,
	Attributes: environmentData.ByIDOrName(map[string]schema.Attribute{
		"service_account_id": crud.OptionalText("Search the environments that this service account can see. Defaults to the API key's owner. " +
			"The failure reason of an environment with scope `user` can then be null" + crud.Assumed("list-environments")),
	}),
	Validators: crud.IDOrName(),
	Verb:       "read", Object: "environment", Options: apierror.Options{apierror.AtAccount},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *environmentDataModel) error {
		found, err := findEnvironment(ctx, c, m)
		if err != nil {
			return err
		}
		return crud.Failure(environmentData.Into(ctx, found, &m.environmentDataRecord))
	}),
}

// findEnvironment looks up the environment with the model's ID or name. An account's environments are only in its listing, because no
// single read has an account: it adds only the reason of a failure, and only the owner's key can send it for user scope.
func findEnvironment(ctx context.Context, c *client.Client, m *environmentDataModel) (*environments.Environment, error) {
	id, ofAccount := m.ID.ValueString(), value.IsSet(m.ServiceAccountID)
	if id != "" && !ofAccount {
		found, err := c.Environments.Get(ctx, id)
		if transport.IsNotFound(err) {
			err = environmentNotFound(id, "If the environment has user scope, use its owner's API key. If its owner is a service account, set service_account_id.")
		}
		return found, err
	}
	all, err := c.Environments.Find(ctx, m.ServiceAccountID.ValueString(), func(e *environments.Environment) bool {
		return e.ID == id || id == "" && wire.SameText(e.Name, m.Name.ValueString())
	})
	if err != nil {
		return nil, err
	}
	if id != "" && len(all) == 0 {
		return nil, environmentNotFound(id, "Also check service_account_id.")
	}
	found, err := crud.OnlyNamed("environment", m.Name.ValueString(), all, inItsScope)
	if err != nil || ofAccount && found.Scope == environments.ScopeUser {
		return found, err
	}
	return c.Environments.Complete(ctx, found)
}

func environmentNotFound(id, remedy string) error {
	return &crud.ObjectError{At: path.Root("id"), Summary: "Environment not found", Detail: phrase.Join(
		fmt.Sprintf("Environment %q was not found, or the provider's API key cannot see it. Check the ID.", id), remedy, apierror.NameHint("environment", id))}
}

// inItsScope returns an environment's ID with its scope, which may distinguish it from another environment with the same
// name.
func inItsScope(e *environments.Environment) string {
	if e.Scope == "" {
		return e.ID
	}
	return e.ID + " (scope " + e.Scope + ")"
}
