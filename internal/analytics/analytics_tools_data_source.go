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
	_ datasource.DataSourceWithConfigure      = (*toolsDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*toolsDataSource)(nil)
)

// NewToolsDataSource returns the data source agentyard_analytics_tools.
func NewToolsDataSource() datasource.DataSource { return &toolsDataSource{} }

type toolsDataSource struct{ daysDataSource }

type toolsModel struct {
	daysModel
	GroupBy types.String   `tfsdk:"group_by"`
	Data    []toolRowModel `tfsdk:"data"`
}

type toolRowModel struct {
	Date                     types.String         `tfsdk:"date"`
	GroupKey                 types.String         `tfsdk:"group_key"`
	ToolCalls                types.Float64        `tfsdk:"tool_calls"`
	ByTool                   []toolModel          `tfsdk:"by_tool"`
	MCPUsersWithMCP          types.Float64        `tfsdk:"mcp_users_with_mcp"`
	MCPByServer              []serverModel        `tfsdk:"mcp_by_server"`
	SkillsInvocations        types.Float64        `tfsdk:"skills_invocations"`
	SkillsByName             []nameModel          `tfsdk:"skills_by_name"`
	SlashCommandsInvocations types.Float64        `tfsdk:"slash_commands_invocations"`
	SlashCommandsByName      []nameModel          `tfsdk:"slash_commands_by_name"`
	HooksInvocations         types.Float64        `tfsdk:"hooks_invocations"`
	HooksByEvent             []hookModel          `tfsdk:"hooks_by_event"`
	WebUsers                 types.Float64        `tfsdk:"web_users"`
	AutonomyRatioAvg         types.Float64        `tfsdk:"autonomy_ratio_avg"`
	AutonomyRatioP50         types.Float64        `tfsdk:"autonomy_ratio_p50"`
	AutonomyRatioP90         types.Float64        `tfsdk:"autonomy_ratio_p90"`
	ToolCallsPerSessionAvg   types.Float64        `tfsdk:"tool_calls_per_session_avg"`
	UserTurnsPerSessionAvg   types.Float64        `tfsdk:"user_turns_per_session_avg"`
	ToolAutonomyLevelRatio   *autonomyLevelsModel `tfsdk:"tool_autonomy_level_ratio"`
}

type toolModel struct {
	Tool        types.String  `tfsdk:"tool"`
	Invocations types.Float64 `tfsdk:"invocations"`
}

type serverModel struct {
	Server      types.String  `tfsdk:"server"`
	Invocations types.Float64 `tfsdk:"invocations"`
}

type nameModel struct {
	Name  types.String  `tfsdk:"name"`
	Count types.Float64 `tfsdk:"count"`
}

type hookModel struct {
	Event   types.String  `tfsdk:"event"`
	Matcher types.String  `tfsdk:"matcher"`
	Command types.String  `tfsdk:"command"`
	Count   types.Float64 `tfsdk:"count"`
}

type autonomyLevelsModel struct {
	AutoHigh   types.Float64 `tfsdk:"auto_high"`
	AutoMedium types.Float64 `tfsdk:"auto_medium"`
	AutoLow    types.Float64 `tfsdk:"auto_low"`
	Manual     types.Float64 `tfsdk:"manual"`
}

// FromAPI takes over the rows.
func (m *toolsModel) FromAPI(ctx context.Context, found *client.Analytics[client.ToolRow]) (diags diag.Diagnostics) {
	m.OrgID = value.StringOrNull(found.OrgID)
	m.Data, diags = crud.Each[toolRowModel](ctx, found.Rows)
	return diags
}

// FromAPI takes over a row.
func (m *toolRowModel) FromAPI(_ context.Context, r *client.ToolRow) diag.Diagnostics {
	m.Date, m.GroupKey = types.StringValue(r.Date), types.StringPointerValue(r.GroupKey)
	m.ToolCalls, m.WebUsers = types.Float64PointerValue(r.ToolCalls), types.Float64PointerValue(r.WebUsers)
	m.ByTool = each(r.ByTool, func(t client.ToolInvocations) toolModel {
		return toolModel{types.StringPointerValue(t.Tool), types.Float64PointerValue(t.Invocations)}
	})
	m.MCPUsersWithMCP = types.Float64PointerValue(r.MCPUsersWithMCP)
	m.MCPByServer = each(r.MCPByServer, func(s client.MCPInvocations) serverModel {
		return serverModel{types.StringPointerValue(s.Server), types.Float64PointerValue(s.Invocations)}
	})
	m.SkillsInvocations, m.SkillsByName = types.Float64PointerValue(r.SkillsInvocations), each(r.SkillsByName, nameCount)
	m.SlashCommandsInvocations, m.SlashCommandsByName = types.Float64PointerValue(r.SlashCommandsInvocations), each(r.SlashCommandsByName, nameCount)
	m.HooksInvocations = types.Float64PointerValue(r.HooksInvocations)
	m.HooksByEvent = each(r.HooksByEvent, func(h client.HookCount) hookModel {
		return hookModel{types.StringPointerValue(h.Event), types.StringPointerValue(h.Matcher), types.StringPointerValue(h.Command), types.Float64PointerValue(h.Count)}
	})
	m.AutonomyRatioAvg = types.Float64PointerValue(r.AutonomyRatioAvg)
	m.AutonomyRatioP50, m.AutonomyRatioP90 = types.Float64PointerValue(r.AutonomyRatioP50), types.Float64PointerValue(r.AutonomyRatioP90)
	m.ToolCallsPerSessionAvg, m.UserTurnsPerSessionAvg = types.Float64PointerValue(r.ToolCallsPerSessionAvg), types.Float64PointerValue(r.UserTurnsPerSessionAvg)
	if l := r.ToolAutonomyLevelRatio; l != nil {
		m.ToolAutonomyLevelRatio = &autonomyLevelsModel{
			AutoHigh: types.Float64PointerValue(l.AutoHigh), AutoMedium: types.Float64PointerValue(l.AutoMedium),
			AutoLow: types.Float64PointerValue(l.AutoLow), Manual: types.Float64PointerValue(l.Manual),
		}
	}
	return nil
}

func nameCount(n client.NameCount) nameModel {
	return nameModel{types.StringPointerValue(n.Name), types.Float64PointerValue(n.Count)}
}

var toolRowResults = results.Record{
	"date":       dateOfRow,
	"group_key":  groupOfRow("Name of the tool"),
	"tool_calls": number("Calls of tools."),
	"by_tool": {Text: "Calls by tool, ordered by `tool`.", IsList: true, Of: results.Record{
		"tool":        {Text: "Name of the tool."},
		"invocations": number("Calls of the tool."),
	}},
	"mcp_users_with_mcp": number("Users who used tools of MCP servers."),
	"mcp_by_server": {Text: "Calls by MCP server, ordered by `server`. A name may come again in another case.", IsList: true, Of: results.Record{
		"server":      {Text: "Name of the MCP server."},
		"invocations": number("Calls of its tools."),
	}},
	"skills_invocations":         number("Uses of skills."),
	"skills_by_name":             {Text: "Uses by skill, ordered by `name`.", IsList: true, Of: nameResults("the skill")},
	"slash_commands_invocations": number("Uses of slash commands."),
	"slash_commands_by_name":     {Text: "Uses by slash command, ordered by `name`.", IsList: true, Of: nameResults("the slash command")},
	"hooks_invocations":          number("Runs of hooks."),
	"hooks_by_event": {Text: "Runs by hook, ordered by `event`, `matcher` and `command`.", IsList: true, Of: results.Record{
		"event":   {Text: "Event at which the hook runs."},
		"matcher": {Text: "What the hook applies to."},
		"command": {Text: "Command of the hook."},
		"count":   number("Runs of the hook."),
	}},
	"web_users":                  number("Users of the web app."),
	"autonomy_ratio_avg":         number("Calls of tools for each turn of a user, on average."),
	"autonomy_ratio_p50":         number("Median of the calls of tools for each turn of a user."),
	"autonomy_ratio_p90":         number("90th percentile of the calls of tools for each turn of a user."),
	"tool_calls_per_session_avg": number("Calls of tools in a session, on average."),
	"user_turns_per_session_avg": number("Turns of users in a session, on average."),
	"tool_autonomy_level_ratio": {Text: "Shares of the levels of autonomy in the calls of tools, as fractions of 1.", Of: results.Record{
		"auto_high":   number("Share of the high level."),
		"auto_medium": number("Share of the medium level."),
		"auto_low":    number("Share of the low level."),
		"manual":      number("Share of what a user approved by hand."),
	}},
}

func nameResults(what string) results.Record {
	return results.Record{"name": {Text: "Name of " + what + "."}, "count": number("Uses of " + what + ".")}
}

func (d *toolsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_analytics_tools"
}

func (d *toolsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The use of tools, MCP servers, skills, slash commands and hooks in the organization on each day." + managersOnly,
		Attributes:          attributes(toolRowResults, "The days, ordered by `date` and then `group_key`; "+quietDays),
	}
	resp.Schema.Attributes["group_by"] = groupBy("tool_name", "tool", "`tool_calls`")
}

func (d *toolsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "analytics of tools", req, resp, func(m *toolsModel) (*client.Analytics[client.ToolRow], error) {
		if err := d.checkAvailable(m.daysModel); err != nil {
			return nil, err
		}
		return d.Client.ToolAnalytics(ctx, m.days(), m.GroupBy.ValueString())
	}, organizationAccess, atArguments)
}
