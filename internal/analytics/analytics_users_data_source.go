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
	_ datasource.DataSourceWithConfigure      = (*usersDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*usersDataSource)(nil)
)

// NewUsersDataSource returns the data source agentyard_analytics_users.
func NewUsersDataSource() datasource.DataSource { return &usersDataSource{} }

type usersDataSource struct{ daysDataSource }

type usersModel struct {
	daysModel
	MaxResults types.Int64    `tfsdk:"max_results"`
	Data       []userRowModel `tfsdk:"data"`
}

type userRowModel struct {
	UserID            types.String  `tfsdk:"user_id"`
	UserEmail         types.String  `tfsdk:"user_email"`
	Date              types.String  `tfsdk:"date"`
	ToolCalls         types.Float64 `tfsdk:"tool_calls"`
	BillableTokens    types.Float64 `tfsdk:"billable_tokens"`
	PrimaryModel      types.String  `tfsdk:"primary_model"`
	PrimaryModelTier  types.String  `tfsdk:"primary_model_tier"`
	FilesCreated      types.Float64 `tfsdk:"files_created"`
	FilesEdited       types.Float64 `tfsdk:"files_edited"`
	GitCommits        types.Float64 `tfsdk:"git_commits"`
	GitPRsCreated     types.Float64 `tfsdk:"git_prs_created"`
	MCPCalls          types.Float64 `tfsdk:"mcp_calls"`
	SkillCalls        types.Float64 `tfsdk:"skill_calls"`
	SlashCommands     types.Float64 `tfsdk:"slash_commands"`
	Hooks             types.Float64 `tfsdk:"hooks"`
	Sessions          types.Float64 `tfsdk:"sessions"`
	Messages          types.Float64 `tfsdk:"messages"`
	UserMessages      types.Float64 `tfsdk:"user_messages"`
	AssistantMessages types.Float64 `tfsdk:"assistant_messages"`
	AutonomyRatio     types.Float64 `tfsdk:"autonomy_ratio"`
	DelegationLevel   types.String  `tfsdk:"delegation_level"`
	Languages         types.List    `tfsdk:"languages"`
}

// FromAPI takes over the rows.
func (m *usersModel) FromAPI(ctx context.Context, found *client.Analytics[client.UserRow]) (diags diag.Diagnostics) {
	m.OrgID = value.StringOrNull(found.OrgID)
	m.Data, diags = crud.Each[userRowModel](ctx, found.Rows)
	return diags
}

// FromAPI takes over a row.
func (m *userRowModel) FromAPI(ctx context.Context, r *client.UserRow) (diags diag.Diagnostics) {
	m.UserID, m.UserEmail, m.Date = value.StringOrNull(r.UserID), types.StringPointerValue(r.UserEmail), types.StringValue(r.Date)
	m.ToolCalls, m.BillableTokens = types.Float64PointerValue(r.ToolCalls), types.Float64PointerValue(r.BillableTokens)
	m.PrimaryModel, m.PrimaryModelTier = types.StringPointerValue(r.PrimaryModel), types.StringPointerValue(r.PrimaryModelTier)
	m.FilesCreated, m.FilesEdited = types.Float64PointerValue(r.FilesCreated), types.Float64PointerValue(r.FilesEdited)
	m.GitCommits, m.GitPRsCreated = types.Float64PointerValue(r.GitCommits), types.Float64PointerValue(r.GitPRsCreated)
	m.MCPCalls, m.SkillCalls = types.Float64PointerValue(r.MCPCalls), types.Float64PointerValue(r.SkillCalls)
	m.SlashCommands, m.Hooks = types.Float64PointerValue(r.SlashCommands), types.Float64PointerValue(r.Hooks)
	m.Sessions, m.Messages = types.Float64PointerValue(r.Sessions), types.Float64PointerValue(r.Messages)
	m.UserMessages, m.AssistantMessages = types.Float64PointerValue(r.UserMessages), types.Float64PointerValue(r.AssistantMessages)
	m.AutonomyRatio, m.DelegationLevel = types.Float64PointerValue(r.AutonomyRatio), types.StringPointerValue(r.DelegationLevel)
	m.Languages, diags = value.StringListOrNull(ctx, r.Languages)
	return diags
}

// userIDOfRow and userEmailOfRow are fields of a row of tokens too.
var (
	userIDOfRow    = results.Field{Text: "ID of the user."}
	userEmailOfRow = results.Field{Text: "Email address of the user; null for somebody who has left."}
)

var userRowResults = results.Record{
	"user_id":            userIDOfRow,
	"user_email":         userEmailOfRow,
	"date":               dateOfRow,
	"tool_calls":         number("Calls of tools."),
	"billable_tokens":    number("Standard credits that the user used."),
	"primary_model":      {Text: "ID of the model that the user used most."},
	"primary_model_tier": {Text: "Its tier: `standard` or `thinking`."},
	"files_created":      number("Files that were created."),
	"files_edited":       number("Files that were edited."),
	"git_commits":        number("Git commits."),
	"git_prs_created":    number("Pull requests that were opened."),
	"mcp_calls":          number("Calls of tools of MCP servers."),
	"skill_calls":        number("Uses of skills."),
	"slash_commands":     number("Uses of slash commands."),
	"hooks":              number("Runs of hooks."),
	"sessions":           number("Sessions."),
	"messages":           number("Messages of the user and of the assistant."),
	"user_messages":      number("Messages of the user."),
	"assistant_messages": number("Messages of the assistant."),
	"autonomy_ratio":     number("Calls of tools for each turn of the user, on average."),
	"delegation_level":   {Text: "How much the user delegates: `auto-high`, `auto-medium`, `auto-low`, `spec` or `manual`."},
	"languages":          {Text: "Languages of the files.", Type: types.ListType{ElemType: types.StringType}},
}

func (d *usersDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_analytics_users"
}

func (d *usersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "What each user of the organization did on each day. There is a row for each user and day: with thousands of users ask about few days at a time, for a plan and the state hold them all." + managersOnly,
		Attributes:          attributes(userRowResults, "The users of each day, ordered by `date` and then `user_id`; "+quietDays),
	}
	resp.Schema.Attributes["max_results"] = results.MaxResults("At most so many rows, at least 1. The service lists user by user, so that whole users are left out; what remains is ordered as always. If omitted, all.")
}

func (d *usersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "analytics of users", req, resp, func(m *usersModel) (*client.Analytics[client.UserRow], error) {
		if err := d.checkAvailable(m.daysModel); err != nil {
			return nil, err
		}
		return d.Client.UserAnalytics(ctx, m.days(), int(m.MaxResults.ValueInt64()))
	}, organizationAccess, atArguments)
}
