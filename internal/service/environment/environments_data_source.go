package environment

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// atAccount puts errors about the service account on its argument.
var atAccount = apierror.AtStatus{
	http.StatusBadRequest: path.Root("service_account_id"), http.StatusForbidden: path.Root("service_account_id"), http.StatusNotFound: path.Root("service_account_id"),
}

type environmentsModel struct {
	ServiceAccountID     types.String `tfsdk:"service_account_id"`
	Environments         types.List   `tfsdk:"environments"`
	DefaultEnvironmentID types.String `tfsdk:"default_environment_id"`
}

// EnvironmentsDataSource is the data source agentyard_environments.
var EnvironmentsDataSource = crud.DataSource{
	Name: "environments",
	Description: "Lists the environments that the API key or a service account can see. The list should not contain the reasons for failures" + crud.Assumed("list-environments") + " " +
		"For these, use the data sources `agentyard_environment` and `agentyard_environment_build_diagnostics`." + anyViewer,
	Attributes: map[string]schema.Attribute{
		"service_account_id":     crud.OptionalText("Return the environments that this service account can see. Defaults to the API key's owner."),
		"environments":           environmentData.DataSourceRows("The environments, ordered by name."),
		"default_environment_id": schema.StringAttribute{Computed: true, MarkdownDescription: "ID of the organization's default environment. Null if there is none."},
	},
	Verb: "list", Object: "environments", Options: apierror.Options{atAccount},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *environmentsModel) error {
		found, err := c.Environments.List(ctx, m.ServiceAccountID.ValueString())
		if err != nil {
			return err
		}
		m.Environments = results.RowsOf(environmentData, found)
		id, err := c.Environments.Default(ctx, m.ServiceAccountID.ValueString())
		m.DefaultEnvironmentID = value.StringOrNull(id)
		return err
	}),
}
