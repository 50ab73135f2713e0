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
	_ datasource.DataSourceWithConfigure      = (*tokensDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*tokensDataSource)(nil)
)

// NewTokensDataSource returns the data source agentyard_analytics_tokens.
func NewTokensDataSource() datasource.DataSource { return &tokensDataSource{} }

type tokensDataSource struct{ daysDataSource }

type tokensModel struct {
	daysModel
	GroupBy types.String    `tfsdk:"group_by"`
	Data    []tokenRowModel `tfsdk:"data"`
}

type tokenRowModel struct {
	Date             types.String       `tfsdk:"date"`
	GroupKey         types.String       `tfsdk:"group_key"`
	BillableTokens   types.Float64      `tfsdk:"billable_tokens"`
	InputTokens      types.Float64      `tfsdk:"input_tokens"`
	OutputTokens     types.Float64      `tfsdk:"output_tokens"`
	CacheReadTokens  types.Float64      `tfsdk:"cache_read_tokens"`
	CacheWriteTokens types.Float64      `tfsdk:"cache_write_tokens"`
	ByModel          []modelTokensModel `tfsdk:"by_model"`
	ByUser           []userTokensModel  `tfsdk:"by_user"`
}

type modelTokensModel struct {
	ModelID        types.String  `tfsdk:"model_id"`
	ModelTier      types.String  `tfsdk:"model_tier"`
	BillableTokens types.Float64 `tfsdk:"billable_tokens"`
	InputTokens    types.Float64 `tfsdk:"input_tokens"`
	OutputTokens   types.Float64 `tfsdk:"output_tokens"`
}

type userTokensModel struct {
	UserID         types.String       `tfsdk:"user_id"`
	UserEmail      types.String       `tfsdk:"user_email"`
	BillableTokens types.Float64      `tfsdk:"billable_tokens"`
	ByModel        []modelTokensModel `tfsdk:"by_model"`
}

// FromAPI takes over the rows.
func (m *tokensModel) FromAPI(ctx context.Context, found *client.Analytics[client.TokenRow]) (diags diag.Diagnostics) {
	m.OrgID = value.StringOrNull(found.OrgID)
	m.Data, diags = crud.Each[tokenRowModel](ctx, found.Rows)
	return diags
}

// FromAPI takes over a row.
func (m *tokenRowModel) FromAPI(_ context.Context, r *client.TokenRow) diag.Diagnostics {
	m.Date, m.GroupKey = types.StringValue(r.Date), types.StringPointerValue(r.GroupKey)
	m.BillableTokens = types.Float64PointerValue(r.BillableTokens)
	m.InputTokens, m.OutputTokens = types.Float64PointerValue(r.InputTokens), types.Float64PointerValue(r.OutputTokens)
	m.CacheReadTokens, m.CacheWriteTokens = types.Float64PointerValue(r.CacheReadTokens), types.Float64PointerValue(r.CacheWriteTokens)
	m.ByModel = each(r.ByModel, modelTokens)
	m.ByUser = each(r.ByUser, func(u client.UserTokens) userTokensModel {
		return userTokensModel{
			UserID: types.StringPointerValue(u.UserID), UserEmail: types.StringPointerValue(u.UserEmail),
			BillableTokens: types.Float64PointerValue(u.BillableTokens), ByModel: each(u.ByModel, modelTokens),
		}
	})
	return nil
}

func modelTokens(t client.ModelTokens) modelTokensModel {
	return modelTokensModel{
		ModelID: types.StringPointerValue(t.ModelID), ModelTier: types.StringPointerValue(t.ModelTier), BillableTokens: types.Float64PointerValue(t.BillableTokens),
		InputTokens: types.Float64PointerValue(t.InputTokens), OutputTokens: types.Float64PointerValue(t.OutputTokens),
	}
}

var tokenRowResults = results.Record{
	"date":               dateOfRow,
	"group_key":          groupOfRow("ID of the model"),
	"billable_tokens":    number("Standard credits: input and output tokens, less discounts for the cache."),
	"input_tokens":       number("Input tokens."),
	"output_tokens":      number("Output tokens."),
	"cache_read_tokens":  number("Tokens that were read from the cache."),
	"cache_write_tokens": number("Tokens that were written to the cache."),
	"by_model":           {Text: "Shares of the models, ordered by `model_id`.", IsList: true, Of: modelTokensResults},
	"by_user": {Text: "Shares of the users, ordered by `user_id`.", IsList: true, Of: results.Record{
		"user_id":         userIDOfRow,
		"user_email":      userEmailOfRow,
		"billable_tokens": number("Standard credits that the user used."),
		"by_model":        {Text: "Shares of the models in what the user used, ordered by `model_id`.", IsList: true, Of: modelTokensResults},
	}},
}

var modelTokensResults = results.Record{
	"model_id":        {Text: "ID of the model."},
	"model_tier":      {Text: "Tier of the model, such as `standard` or `thinking`."},
	"billable_tokens": number("Standard credits that the model cost."),
	"input_tokens":    number("Input tokens of the model."),
	"output_tokens":   number("Output tokens of the model."),
}

func (d *tokensDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_analytics_tokens"
}

func (d *tokensDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The organization's standard credits and tokens of each day, by model and by user. With thousands of users `by_user` is long: where only sums are wanted, `group_by` leaves it out." + managersOnly,
		Attributes:          attributes(tokenRowResults, "The days, ordered by `date` and then `group_key`; "+quietDays),
	}
	resp.Schema.Attributes["group_by"] = groupBy("model", "model", "`billable_tokens`, `input_tokens` and `output_tokens`")
}

func (d *tokensDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "analytics of tokens", req, resp, func(m *tokensModel) (*client.Analytics[client.TokenRow], error) {
		if err := d.checkAvailable(m.daysModel); err != nil {
			return nil, err
		}
		return d.Client.TokenAnalytics(ctx, m.days(), m.GroupBy.ValueString())
	}, organizationAccess, atArguments)
}
