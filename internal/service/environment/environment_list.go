package environment

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

type environmentListModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
}

// EnvironmentList is the list resource agentyard_environment.
var EnvironmentList = crud.ListResource{
	Name: "environment",
	Description: "Lists environments, ordered by name. They should be the organization's and the API key owner's own" + crud.Assumed("list-environments") + anyViewer + "\n\n" +
		"**Failed builds.** The list should not contain the reason for a failed build. It is read after the import.",
	Attributes: map[string]schema.Attribute{
		"service_account_id": crud.OptionalText("Return the environments that this service account can see. Defaults to the API key's owner. " +
			"Importing an environment with scope `user` should require a key of the service account" + crud.Assumed("get-environment")),
	},
	Results: crud.ListAtOnce[environmentModel]("environments", func(ctx context.Context, c *client.Client, config *environmentListModel, _ int) ([]environments.Environment, error) {
		return c.Environments.List(ctx, config.ServiceAccountID.ValueString())
	}, func(e *environments.Environment) string { return e.Name }, atAccount),
}
