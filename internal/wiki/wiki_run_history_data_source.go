package wiki

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*wikiRunHistoryDataSource)(nil)

// NewWikiRunHistoryDataSource returns the data source agentyard_wiki_run_history.
func NewWikiRunHistoryDataSource() datasource.DataSource { return &wikiRunHistoryDataSource{} }

type wikiRunHistoryDataSource struct{ crud.DataSourceBase }

type wikiRunHistoryModel struct {
	RepoURL types.String `tfsdk:"repo_url"`
	wikiRunsModel
}

func (d *wikiRunHistoryDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_wiki_run_history"
}

func (d *wikiRunHistoryDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The wiki runs of a repository, among those that the API key sees: the organization's, and the private ones of the key's owner." + noVideos,
		Attributes: map[string]schema.Attribute{
			"repo_url": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: repoURLText + equalRepoURL,
				Validators:          []validator.String{value.RepositoryURL()},
			},
			"wiki_runs": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The wiki runs, the newest first; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: wikiRunAttributes()},
			},
		},
	}
}

func (d *wikiRunHistoryDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "wiki run history", req, resp, func(m *wikiRunHistoryModel) (*[]client.WikiRun, error) {
		found, err := d.Client.WikiRunHistory(ctx, m.RepoURL.ValueString())
		return &found, err
	}, atRepository)
}
