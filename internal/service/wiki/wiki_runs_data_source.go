package wiki

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type wikiRunsModel struct {
	WikiRuns types.List `tfsdk:"wiki_runs"`
}

// noVideos ends the descriptions of data sources for lists.
const noVideos = " `video_overview` can be null here; the data source `agentyard_wiki_run` returns it." + crud.AnyKey + crud.AssumedFormat

// WikiRunsDataSource is the data source agentyard_wiki_runs.
var WikiRunsDataSource = crud.DataSource{
	Name: "wiki_runs",
	Description: "Lists the latest wiki runs of the organization, which should be the newest of each repository that the API key can see" + crud.Assumed("list-wiki-runs") + " " +
		"For older runs, use the data source `agentyard_wiki_run_history`." + noVideos,
	Attributes: map[string]schema.Attribute{
		"wiki_runs": wikiRunData.DataSourceRows("The wiki runs, ordered by `repo_url`."),
	},
	Verb: "list", Object: "wiki runs", Options: apierror.Options{listAdvice},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *wikiRunsModel) error {
		found, err := c.Wikis.List(ctx)
		m.WikiRuns = results.RowsOf(wikiRunData, found)
		return err
	}),
}
