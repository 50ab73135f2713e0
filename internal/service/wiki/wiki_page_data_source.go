package wiki

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type wikiPageModel struct {
	WikiRunID types.String         `tfsdk:"wiki_run_id"`
	PageID    types.String         `tfsdk:"page_id"`
	Path      types.String         `tfsdk:"path"`
	Title     types.String         `tfsdk:"title"`
	Content   types.String         `tfsdk:"content"`
	Order     types.Int64          `tfsdk:"order"`
	RawJSON   jsontypes.Normalized `tfsdk:"raw_json"`
}

const (
	pathText  = "Path of the page in the wiki, such as `architecture/storage.md`. Links between pages are relative to it."
	titleText = "Title of the page."
)

// WikiPageDataSource is the data source agentyard_wiki_page.
var WikiPageDataSource = crud.DataSource{
	Name:        "wiki_page",
	Description: "Returns a page of a wiki run, with its text." + crud.AnyKey + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"wiki_run_id": ofRun,
		"page_id":     crud.RequiredNotBlank("ID of the page, from the run's `page_tree` or the data source `agentyard_wiki_search`.", "Give the ID of a page."),
		"path":        schema.StringAttribute{Computed: true, MarkdownDescription: pathText},
		"title":       schema.StringAttribute{Computed: true, MarkdownDescription: titleText},
		"content":     schema.StringAttribute{Computed: true, MarkdownDescription: "Text of the page in Markdown. It can be empty."},
		"order":       schema.Int64Attribute{Computed: true, MarkdownDescription: "Position of the page among the pages next to it, rounded down. Null if unknown."},
		"raw_json":    schema.StringAttribute{Computed: true, CustomType: jsontypes.NormalizedType{}, MarkdownDescription: crud.WholeRecord},
	},
	Verb: "read", Object: "wiki page", Options: apierror.Options{ofRunAdvice, pageNotFound},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *wikiPageModel) error {
		page, err := c.Wikis.Page(ctx, m.WikiRunID.ValueString(), m.PageID.ValueString())
		if err != nil {
			return aboutRun(fmt.Sprintf("reading the page %s of", m.PageID), m.WikiRunID.ValueString(), err)
		}
		m.Path, m.Title, m.Content = value.StringOrNull(page.Path), value.StringOrNull(page.Title), types.StringPointerValue(page.Content)
		if page.Order != nil {
			m.Order = types.Int64Value(int64(*page.Order))
		}
		m.RawJSON, err = value.JSON(page.Raw)
		return err
	}),
}

// pageNotFound overrides the advice for wiki runs, because the service does not say whether the run or the page is missing.
var pageNotFound = apierror.Options{
	apierror.Advice{http.StatusNotFound: "Either the wiki run does not exist or is not visible to the API key, or it has no such page. " +
		"Every run has pages of its own: check the page against the page_tree of this run."},
	apierror.AtStatus{http.StatusNotFound: path.Root("page_id"), http.StatusBadRequest: path.Empty()},
}
