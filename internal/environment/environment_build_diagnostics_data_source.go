package environment

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*buildDiagnosticsDataSource)(nil)

// excerptResults are what is shown of a build's log.
var excerptResults = results.Plain{
	"excerpt":   {Text: "A part of the build's log. Null if there is none, or the service withholds it."},
	"truncated": buildResults["truncated"],
	"withheld":  buildResults["withheld"],
}

// NewEnvironmentBuildDiagnosticsDataSource returns the data source agentyard_environment_build_diagnostics.
func NewEnvironmentBuildDiagnosticsDataSource() datasource.DataSource {
	return &buildDiagnosticsDataSource{}
}

type buildDiagnosticsDataSource struct{ crud.DataSourceBase }

type buildDiagnosticsModel struct {
	EnvironmentID types.String `tfsdk:"environment_id"`
	BuildID       types.String `tfsdk:"build_id"`
	Status        types.String `tfsdk:"status"`
	Excerpt       types.String `tfsdk:"excerpt"`
	Truncated     types.Bool   `tfsdk:"truncated"`
	Withheld      types.Bool   `tfsdk:"withheld"`
}

// FromAPI takes over what is told of a build.
func (m *buildDiagnosticsModel) FromAPI(_ context.Context, b *environments.BuildDiagnostics) diag.Diagnostics {
	m.BuildID, m.Status, m.Excerpt = types.StringValue(b.BuildID), value.StringOrNull(b.Status), value.StringOrNull(b.Excerpt)
	m.Truncated, m.Withheld = types.BoolValue(b.Truncated), types.BoolValue(b.Withheld)
	return nil
}

func (d *buildDiagnosticsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_environment_build_diagnostics"
}

func (d *buildDiagnosticsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := excerptResults.DataSource()
	attributes["environment_id"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: environmentResults["id"].Text,
		Validators:          []validator.String{value.NotEmpty()},
	}
	attributes["build_id"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: buildResults["id"].Text + " The latest build of the environment if omitted.",
		Validators:          []validator.String{value.NotEmpty()},
	}
	attributes["status"] = schema.StringAttribute{
		Computed: true,
		MarkdownDescription: "With `build_id`, the build's status: `queued`, `building`, `validating`, `succeeded`, `failed` or `superseded`. " +
			"Without it, the environment's: `building`, `ready` or `failed`.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "How a build of an environment went, with the end of its log. It is an error if the environment was never built.",
		Attributes:          attributes,
	}
}

func (d *buildDiagnosticsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "build diagnostics of the environment", req, resp, func(m *buildDiagnosticsModel) (*environments.BuildDiagnostics, error) {
		if value.IsSet(m.BuildID) {
			return d.Client.Environments.BuildDiagnostics(ctx, m.EnvironmentID.ValueString(), m.BuildID.ValueString())
		}
		return d.Client.Environments.LatestBuildDiagnostics(ctx, m.EnvironmentID.ValueString())
	}, diagnosticsNotFound, apierror.AtStatus{http.StatusBadRequest: path.Root("environment_id"), http.StatusNotFound: path.Root("environment_id")}, apierror.Fields{"buildId": path.Root("build_id")})
}

var diagnosticsNotFound = apierror.Advice{
	http.StatusNotFound: "The environment does not exist, is not visible to the API key, has no build with this build_id, or was never built. Check the IDs, and whose key it is; " +
		"the data source agentyard_environment_build_statuses leaves out what has no build instead of failing.",
}
