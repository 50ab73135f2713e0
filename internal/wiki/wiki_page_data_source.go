package wiki

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*wikiPageDataSource)(nil)

// NewWikiPageDataSource returns the data source agentyard_wiki_page.
func NewWikiPageDataSource() datasource.DataSource { return &wikiPageDataSource{} }

type wikiPageDataSource struct{ crud.DataSourceBase }

type wikiPageModel struct {
	WikiRunID types.String `tfsdk:"wiki_run_id"`
	PageID    types.String `tfsdk:"page_id"`
	Path      types.String `tfsdk:"path"`
	Title     types.String `tfsdk:"title"`
	Content   types.String `tfsdk:"content"`
	Order     types.Int64  `tfsdk:"order"`
}

// FromAPI takes over a page. Its ID stays as it is given.
func (m *wikiPageModel) FromAPI(_ context.Context, p *client.WikiPage) diag.Diagnostics {
	m.Path, m.Title, m.Content, m.Order = value.StringOrNull(p.Path), value.StringOrNull(p.Title), types.StringPointerValue(p.Content), types.Int64Null()
	if p.Order != nil {
		m.Order = types.Int64Value(int64(*p.Order))
	}
	return nil
}

// wikiPageResults are the fields of a page that everything that shows pages has.
var wikiPageResults = results.Plain{
	"path":  {Text: "The page's path in the wiki, such as `architecture/storage.md`. Links between pages are relative to it."},
	"title": {Text: "The page's title."},
}

func (d *wikiPageDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_wiki_page"
}

func (d *wikiPageDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := wikiPageResults.DataSource()
	attributes["wiki_run_id"] = ofRun()
	attributes["page_id"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "ID of the page, as the run's `page_tree` and the data source `agentyard_wiki_search` have it.",
		Validators:          []validator.String{value.NotBlank("give the ID of a page")},
	}
	attributes["content"] = schema.StringAttribute{
		Computed:            true,
		MarkdownDescription: "The page's text in Markdown. It may be empty.",
	}
	attributes["order"] = schema.Int64Attribute{
		Computed:            true,
		MarkdownDescription: "The page's place among the pages beside it, without a fraction. Null if the service does not tell it.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One page of a wiki run, with its text. A run never changes, so neither does its page.",
		Attributes:          attributes,
	}
}

func (d *wikiPageDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "wiki page", req, resp, func(m *wikiPageModel) (*client.WikiPage, error) {
		page, err := d.Client.WikiPage(ctx, m.WikiRunID.ValueString(), m.PageID.ValueString())
		if err != nil {
			return nil, aboutRun(fmt.Sprintf("reading the page %s of", m.PageID), m.WikiRunID.ValueString(), err)
		}
		return page, nil
	}, ofRunAdvice, pageNotFound)
}

// pageNotFound overrides what is said of runs: the service does not tell which of the two is missing.
var pageNotFound = apierror.Options{
	apierror.Advice{http.StatusNotFound: "Either the wiki run does not exist or is not visible to the API key, or it has no such page. " +
		"Every run has pages of its own: check the page against the page_tree of this run."},
	apierror.AtStatus{http.StatusNotFound: path.Root("page_id"), http.StatusBadRequest: path.Empty()},
}
