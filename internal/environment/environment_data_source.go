package environment

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

type environmentDataModel struct {
	environmentRecord
	UpdatedAt types.String `tfsdk:"updated_at"`
}

// NewEnvironmentDataSource returns the data source agentyard_environment.
func NewEnvironmentDataSource() datasource.DataSource {
	return &crud.DataSource[environmentDataModel]{
		Name:        "environment",
		Description: "Returns an environment by ID or name. If both scopes have an environment with the name, use the ID.",
		Attributes:  environmentData.ByIDOrName(0),
		Validators:  crud.IDOrName(),
		Verb:        "read", Object: "environment",
		Fetch: func(ctx context.Context, c *client.Client, m *environmentDataModel) error {
			found, err := findEnvironment(ctx, c, m)
			if err != nil {
				return err
			}
			return crud.Failure(environmentData.Into(ctx, found, m))
		},
	}
}

// findEnvironment looks up the environment with the model's ID or name.
func findEnvironment(ctx context.Context, c *client.Client, m *environmentDataModel) (*environments.Environment, error) {
	if value.IsSet(m.ID) {
		found, err := c.Environments.Get(ctx, m.ID.ValueString())
		if transport.IsNotFound(err) {
			err = &crud.Fault{At: path.Root("id"), Summary: "Environment Not Found", Detail: fmt.Sprintf("Environment %q was not found, or the provider's API key cannot see it. Check the ID. If the environment has user scope, use its owner's API key.", m.ID.ValueString())}
		}
		return found, err
	}
	named, err := c.Environments.ListNamed(ctx, m.Name.ValueString())
	if err != nil {
		return nil, err
	}
	found, err := crud.OnlyNamed("environment", m.Name.ValueString(), named, inItsScope)
	if err != nil {
		return nil, err
	}
	return c.Environments.WithFailure(ctx, found)
}

// inItsScope returns an environment's ID with its scope, which may distinguish it from another environment with the same
// name.
func inItsScope(e *environments.Environment) string {
	if e.Scope == "" {
		return e.ID
	}
	return e.ID + " (scope " + e.Scope + ")"
}
