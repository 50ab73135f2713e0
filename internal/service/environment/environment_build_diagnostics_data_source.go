package environment

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

const excerptText = "Excerpt of the build's diagnostics. Null if there is none, or if the service withholds it."

type buildDiagnosticsModel struct {
	EnvironmentID types.String `tfsdk:"environment_id"`
	BuildID       types.String `tfsdk:"build_id"`
	Status        types.String `tfsdk:"status"`
	Excerpt       types.String `tfsdk:"excerpt"`
	Truncated     types.Bool   `tfsdk:"truncated"`
	Withheld      types.Bool   `tfsdk:"withheld"`
}

// EnvironmentBuildDiagnosticsDataSource is the data source agentyard_environment_build_diagnostics.
var EnvironmentBuildDiagnosticsDataSource = crud.DataSource{
	Name:        "environment_build_diagnostics",
	Description: "Returns the status of an environment's build, with an excerpt of its diagnostics. Fails if there is no such build." + crud.AnyKey + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"environment_id": crud.RequiredText(environmentResults["id"].Text),
		"build_id": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: buildResults["id"].Text + " Defaults to the latest build of the environment.",
			Validators:          []validator.String{value.NotEmpty()},
		},
		"status": schema.StringAttribute{
			Computed: true,
			MarkdownDescription: "With `build_id`, the build's status: `queued`, `building`, `validating`, `succeeded`, `failed`, or `superseded`. " +
				"Without it, the environment's status: `building`, `ready`, or `failed`.",
		},
		"excerpt":   schema.StringAttribute{Computed: true, MarkdownDescription: excerptText},
		"truncated": schema.BoolAttribute{Computed: true, MarkdownDescription: buildResults["truncated"].Text},
		"withheld":  schema.BoolAttribute{Computed: true, MarkdownDescription: buildResults["withheld"].Text},
	},
	Verb: "read", Object: "build diagnostics of the environment",
	Options: apierror.Options{
		diagnosticsNotFound, apierror.AtStatus{http.StatusBadRequest: path.Root("environment_id"), http.StatusNotFound: path.Root("environment_id")},
	},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *buildDiagnosticsModel) error {
		build, err := c.Environments.BuildDiagnostics(ctx, m.EnvironmentID.ValueString(), m.BuildID.ValueString())
		if err != nil {
			return err
		}
		m.BuildID, m.Status, m.Excerpt = types.StringValue(build.BuildID), value.StringOrNull(build.Status), value.StringOrNull(build.Excerpt)
		m.Truncated, m.Withheld = types.BoolValue(build.Truncated), types.BoolValue(build.Withheld)
		return nil
	}),
}

var diagnosticsNotFound = apierror.Advice{
	http.StatusNotFound: "The environment or the build was not found, or the provider's API key cannot see it. Check the IDs. " +
		"If the environment may have no build yet, use agentyard_environment_build_statuses, which leaves it out.",
}
