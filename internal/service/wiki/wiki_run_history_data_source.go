package wiki

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type wikiRunHistoryModel struct {
	RepoURL  types.String `tfsdk:"repo_url"`
	WikiRuns types.List   `tfsdk:"wiki_runs"`
}

// WikiRunHistoryDataSource is the data source agentyard_wiki_run_history.
var WikiRunHistoryDataSource = crud.DataSource{
	Name:        "wiki_run_history",
	Description: "Lists the wiki runs of a repository that the API key can see." + noVideos,
	Attributes: map[string]schema.Attribute{
		"repo_url": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: repoURLText + equalRepoURL,
			Validators:          []validator.String{value.RepositoryURL()},
		},
		"wiki_runs": wikiRunData.DataSourceRows("The wiki runs, newest first."),
	},
	Verb: "read", Object: "wiki run history", Options: creationOptions,
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *wikiRunHistoryModel) error {
		found, err := c.Wikis.History(ctx, m.RepoURL.ValueString())
		m.WikiRuns = results.RowsOf(wikiRunData, found)
		return err
	}),
}
