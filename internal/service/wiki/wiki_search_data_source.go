package wiki

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type wikiSearchModel struct {
	WikiRunID types.String `tfsdk:"wiki_run_id"`
	Query     types.String `tfsdk:"query"`
	Limit     types.Int64  `tfsdk:"limit"`
	Results   types.List   `tfsdk:"results"`
}

// WikiSearchDataSource is the data source agentyard_wiki_search.
var WikiSearchDataSource = crud.DataSource{
	Name:        "wiki_search",
	Description: "Searches the pages of a wiki run." + crud.AnyKey + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"wiki_run_id": ofRun,
		"query":       crud.RequiredNotBlank("Text to search for.", "Give a text to look for."),
		"limit": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Maximum number of pages to return. The service should accept 1–100" + crud.Assumed("search-wiki-run-limit") + " If omitted, the service chooses.",
			Validators:          []validator.Int64{value.AtLeast(1)},
		},
		"results": wikiMatch.DataSourceRows("The pages in the service's order, which should begin with the most matches" + crud.Assumed("search-wiki-run")),
	},
	Verb: "search", Object: "wiki run",
	Options: apierror.Options{ofRunAdvice},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *wikiSearchModel) error {
		found, err := c.Wikis.Search(ctx, m.WikiRunID.ValueString(), m.Query.ValueString(), m.Limit.ValueInt64())
		if err != nil {
			return aboutRun("searching", m.WikiRunID.ValueString(), err)
		}
		m.Results = results.RowsOf(wikiMatch, found)
		return nil
	}),
}

var wikiMatch = results.Fields[*wikis.Match]{
	"page_id":     results.String("ID of the page, for the data source `agentyard_wiki_page`.", func(w *wikis.Match) string { return w.PageID }),
	"title":       results.String(titleText, func(w *wikis.Match) string { return w.Title }),
	"path":        results.String(pathText, func(w *wikis.Match) string { return w.Path }),
	"snippet":     results.String("Excerpt of the page. Null if the service returns none.", func(w *wikis.Match) string { return w.Snippet }),
	"match_count": results.Int64("Number of matches in the page. Null if unknown.", func(w *wikis.Match) *int64 { return w.MatchCount }),
	"raw_json":    results.JSON(crud.WholeRecord, func(w *wikis.Match) json.RawMessage { return w.Raw }),
}
