package analytics

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ datasource.DataSourceWithConfigure      = (*productivityDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*productivityDataSource)(nil)
)

// NewProductivityDataSource returns the data source agentyard_analytics_productivity.
func NewProductivityDataSource() datasource.DataSource { return &productivityDataSource{} }

type productivityDataSource struct{ daysDataSource }

type productivityModel struct {
	daysModel
	Data []productivityRowModel `tfsdk:"data"`
}

type productivityRowModel struct {
	Date          types.String     `tfsdk:"date"`
	FilesCreated  types.Float64    `tfsdk:"files_created"`
	FilesEdited   types.Float64    `tfsdk:"files_edited"`
	ByExtension   []extensionModel `tfsdk:"by_extension"`
	ByLanguage    []languageModel  `tfsdk:"by_language"`
	GitCommits    types.Float64    `tfsdk:"git_commits"`
	GitPRsCreated types.Float64    `tfsdk:"git_prs_created"`
}

type extensionModel struct {
	Extension types.String  `tfsdk:"extension"`
	Count     types.Float64 `tfsdk:"count"`
}

type languageModel struct {
	Language types.String  `tfsdk:"language"`
	Count    types.Float64 `tfsdk:"count"`
}

// FromAPI takes over the rows.
func (m *productivityModel) FromAPI(ctx context.Context, found *client.Analytics[client.ProductivityRow]) (diags diag.Diagnostics) {
	m.OrgID = value.StringOrNull(found.OrgID)
	m.Data, diags = crud.Each[productivityRowModel](ctx, found.Rows)
	return diags
}

// FromAPI takes over a row.
func (m *productivityRowModel) FromAPI(_ context.Context, r *client.ProductivityRow) diag.Diagnostics {
	m.Date = types.StringValue(r.Date)
	m.FilesCreated, m.FilesEdited = types.Float64PointerValue(r.FilesCreated), types.Float64PointerValue(r.FilesEdited)
	m.ByExtension = each(r.ByExtension, func(e client.ExtensionCount) extensionModel {
		return extensionModel{types.StringPointerValue(e.Extension), types.Float64PointerValue(e.Count)}
	})
	m.ByLanguage = each(r.ByLanguage, func(l client.LanguageCount) languageModel {
		return languageModel{types.StringPointerValue(l.Language), types.Float64PointerValue(l.Count)}
	})
	m.GitCommits, m.GitPRsCreated = types.Float64PointerValue(r.GitCommits), types.Float64PointerValue(r.GitPRsCreated)
	return nil
}

var productivityRowResults = results.Record{
	"date":          dateOfRow,
	"files_created": number("Files that were created."),
	"files_edited":  number("Files that were edited."),
	"by_extension": {Text: "Files by extension, ordered by `extension`.", IsList: true, Of: results.Record{
		"extension": {Text: "Extension of the files' names."},
		"count":     number("Files with this extension."),
	}},
	"by_language": {Text: "Files by language, ordered by `language`.", IsList: true, Of: results.Record{
		"language": {Text: "Name of the language."},
		"count":    number("Files in this language."),
	}},
	"git_commits":     number("Git commits."),
	"git_prs_created": number("Pull requests that were opened."),
}

func (d *productivityDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_analytics_productivity"
}

func (d *productivityDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The files, commits and pull requests that were made in the organization on each day." + managersOnly,
		Attributes:          attributes(productivityRowResults, "The days, ordered by `date`; "+quietDays),
	}
}

func (d *productivityDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "analytics of productivity", req, resp, func(m *productivityModel) (*client.Analytics[client.ProductivityRow], error) {
		if err := d.checkAvailable(m.daysModel); err != nil {
			return nil, err
		}
		return d.Client.ProductivityAnalytics(ctx, m.days())
	}, organizationAccess, atArguments)
}
