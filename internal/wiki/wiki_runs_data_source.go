package wiki

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ datasource.DataSourceWithConfigure = (*wikiRunsDataSource)(nil)

// NewWikiRunsDataSource returns the data source agentyard_wiki_runs.
func NewWikiRunsDataSource() datasource.DataSource { return &wikiRunsDataSource{} }

type wikiRunsDataSource struct{ crud.DataSourceBase }

type wikiRunsModel struct {
	WikiRuns []wikiRunDetails `tfsdk:"wiki_runs"`
}

// FromAPI takes over the listing.
func (m *wikiRunsModel) FromAPI(ctx context.Context, found *[]client.WikiRun) (diags diag.Diagnostics) {
	m.WikiRuns, diags = crud.Each[wikiRunDetails](ctx, *found)
	return diags
}

func (d *wikiRunsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_wiki_runs"
}

// noVideos is said of listings.
const noVideos = " `video_overview` is null here; the data source `agentyard_wiki_run` has it."

func (d *wikiRunsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The newest wiki run of each repository, among those that the API key sees: the organization's, and the private ones of the key's owner. " +
			"The data source `agentyard_wiki_run_history` has the older ones." + noVideos,
		Attributes: map[string]schema.Attribute{
			"wiki_runs": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The wiki runs, ordered by `repo_url`; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: wikiRunAttributes()},
			},
		},
	}
}

func (d *wikiRunsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "wiki runs", req, resp, func(*wikiRunsModel) (*[]client.WikiRun, error) {
		found, err := d.Client.WikiRuns(ctx)
		return &found, err
	}, listAdvice)
}
