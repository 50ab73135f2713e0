package ci

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*ciRunsDataSource)(nil)

// NewCIRunsDataSource returns the data source agentyard_ci_runs.
func NewCIRunsDataSource() datasource.DataSource { return &ciRunsDataSource{} }

type ciRunsDataSource struct{ crud.DataSourceBase }

type ciRunsModel struct {
	Runs        []ciRunModel      `tfsdk:"runs"`
	Integration *integrationModel `tfsdk:"integration"`
}

type ciRunModel struct {
	ID           types.String         `tfsdk:"id"`
	RepoFullName types.String         `tfsdk:"repo_full_name"`
	Status       types.String         `tfsdk:"status"`
	Conclusion   types.String         `tfsdk:"conclusion"`
	Raw          jsontypes.Normalized `tfsdk:"raw"`
}

// FromAPI takes over the runs.
func (m *ciRunsModel) FromAPI(ctx context.Context, found *client.CIRuns) (diags diag.Diagnostics) {
	m.Integration = integrationOf(found.Integration)
	m.Runs, diags = crud.Each[ciRunModel](ctx, found.Runs)
	return diags
}

// FromAPI takes over a run.
func (m *ciRunModel) FromAPI(_ context.Context, r *client.CIRun) (diags diag.Diagnostics) {
	m.ID, m.RepoFullName = value.StringOrNull(string(r.ID)), value.StringOrNull(string(r.RepoFullName))
	m.Status, m.Conclusion = value.StringOrNull(string(r.Status)), value.StringOrNull(string(r.Conclusion))
	var err error
	if m.Raw, err = value.JSON(r.Raw); err != nil {
		diags.AddAttributeError(path.Root("runs"), "Cannot Store Runs", err.Error())
	}
	return diags
}

var ciRunResults = results.Plain{
	"id":             {Text: "ID of the run."},
	"repo_full_name": {Text: ofRepository},
	"status":         {Text: "Status of the run, such as `queued`, `in_progress` or `completed`."},
	"conclusion":     {Text: "How the run ended, such as `success` or `failure`. Null while it goes on."},
}

func (d *ciRunsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ci_runs"
}

func (d *ciRunsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := ciRunResults.DataSource()
	attributes["raw"] = schema.StringAttribute{
		Computed: true, CustomType: jsontypes.NormalizedType{},
		MarkdownDescription: "The whole run as JSON with sorted keys. Decode it with `jsondecode`. Its fields may come, go or change their names with the service's version.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The runs of the workflows that CI automation made." + everyMember,
		Attributes:          integrationResults.DataSource(),
	}
	resp.Schema.Attributes["runs"] = schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The runs, as the service orders them; empty if there are none. A field that the service does not tell is null.",
		NestedObject:        schema.NestedAttributeObject{Attributes: attributes},
	}
}

func (d *ciRunsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "CI runs", req, resp, func(*ciRunsModel) (*client.CIRuns, error) {
		return d.Client.CIRuns(ctx)
	}, readAccess)
}
