package wiki

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
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

var _ datasource.DataSourceWithConfigure = (*wikiSearchDataSource)(nil)

// NewWikiSearchDataSource returns the data source agentyard_wiki_search.
func NewWikiSearchDataSource() datasource.DataSource { return &wikiSearchDataSource{} }

type wikiSearchDataSource struct{ crud.DataSourceBase }

type wikiSearchModel struct {
	WikiRunID types.String     `tfsdk:"wiki_run_id"`
	Q         types.String     `tfsdk:"q"`
	Limit     types.Int64      `tfsdk:"limit"`
	Results   []wikiMatchModel `tfsdk:"results"`
}

type wikiMatchModel struct {
	PageID     types.String `tfsdk:"page_id"`
	Title      types.String `tfsdk:"title"`
	Path       types.String `tfsdk:"path"`
	Snippet    types.String `tfsdk:"snippet"`
	MatchCount types.Int64  `tfsdk:"match_count"`
}

// FromAPI takes over what a search found.
func (m *wikiSearchModel) FromAPI(ctx context.Context, found *[]client.WikiMatch) (diags diag.Diagnostics) {
	m.Results, diags = crud.Each[wikiMatchModel](ctx, *found)
	return diags
}

// FromAPI takes over a page that was found.
func (m *wikiMatchModel) FromAPI(_ context.Context, w *client.WikiMatch) diag.Diagnostics {
	m.PageID, m.Title, m.Path = types.StringValue(w.PageID), value.StringOrNull(w.Title), value.StringOrNull(w.Path)
	m.Snippet, m.MatchCount = value.StringOrNull(w.Snippet), types.Int64PointerValue(w.MatchCount)
	return nil
}

// wikiMatchResults are the fields of a page that was found.
var wikiMatchResults = results.Plain{
	"page_id":     {Text: "ID of the page, for the data source `agentyard_wiki_page`."},
	"title":       wikiPageResults["title"],
	"path":        wikiPageResults["path"],
	"snippet":     {Text: "The part of the page around the first match. Null if the service shows none."},
	"match_count": {Text: "How often the text is in the page. Null if the service does not tell it.", Type: types.Int64Type},
}

func (d *wikiSearchDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_wiki_search"
}

func (d *wikiSearchDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The pages of a wiki run that hold a text, in the service's order, the best match first.",
		Attributes: map[string]schema.Attribute{
			"wiki_run_id": ofRun(),
			"q": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "The text to look for. It is not blank, and goes to the service as it is given.",
				Validators:          []validator.String{value.NotBlank("give a text to look for")},
			},
			"limit": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "How many pages are returned at most, 1 to 100. If omitted, the service chooses.",
				Validators:          []validator.Int64{int64validator.Between(1, 100)},
			},
			"results": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The pages; empty if none holds the text.",
				NestedObject:        schema.NestedAttributeObject{Attributes: wikiMatchResults.DataSource()},
			},
		},
	}
}

func (d *wikiSearchDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "search", "wiki run", req, resp, func(m *wikiSearchModel) (*[]client.WikiMatch, error) {
		found, err := d.Client.SearchWikiRun(ctx, m.WikiRunID.ValueString(), m.Q.ValueString(), m.Limit.ValueInt64())
		if err != nil {
			return nil, aboutRun("searching", m.WikiRunID.ValueString(), err)
		}
		return &found, nil
	}, ofRunAdvice, apierror.AtStatus{http.StatusBadRequest: path.Root("q")})
}
