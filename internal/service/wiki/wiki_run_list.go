package wiki

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type wikiRunListModel struct {
	RepoURL types.String `tfsdk:"repo_url"`
}

// WikiRunList is the list resource agentyard_wiki_run.
var WikiRunList = crud.ListResource{
	Name: "wiki_run",
	Description: "Lists wiki runs: the latest ones of the organization, ordered by URL, or all of one repository, newest first. " +
		"`pages`, `page_tree`, and `triggers` are null." + crud.AnyKey + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"repo_url": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Return all wiki runs of the repository with this URL. If omitted, returns the latest ones, which should be one for each repository" + crud.Assumed("list-wiki-runs"),
			Validators:          []validator.String{value.RepositoryURL()},
		},
	},
	Results: crud.ListAtOnce[wikiRunModel]("wiki runs", func(ctx context.Context, c *client.Client, config *wikiRunListModel, _ int) ([]wikis.Run, error) {
		if config.RepoURL.IsNull() {
			found, err := c.Wikis.List(ctx)
			return found, crud.Explained(err, listAdvice)
		}
		found, err := c.Wikis.History(ctx, config.RepoURL.ValueString())
		return found, crud.Explained(err, creationOptions)
	}, func(w *wikis.Run) string { return w.RepoURL + "@" + w.CommitHash }),
}
