package analytics

import (
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// ToolsDataSource is the data source agentyard_analytics_tools.
var ToolsDataSource = ofOrganization("analytics_tools", "Returns the organization's daily use of tools, MCP servers, skills, slash commands, and hooks.", "", "analytics of tools", toolRow,
	dateAndGroup, groupBy("tool_name", "tool", "`tool_calls`"), func(c *analytics.Client) *analytics.Query[analytics.ToolRow] { return c.Tools })

var toolRow = results.Fields[*analytics.ToolRow]{
	"date":                       dateOfRow(func(r *analytics.ToolRow) string { return r.Date }),
	"group_key":                  groupOfRow("Name of the tool.", func(r *analytics.ToolRow) *string { return r.GroupKey }),
	"tool_calls":                 results.Float64("Number of tool calls.", func(r *analytics.ToolRow) *float64 { return r.ToolCalls }),
	"by_tool":                    results.List("Calls by tool, ordered by `tool`.", toolInvocations, func(r *analytics.ToolRow) []analytics.ToolInvocations { return r.ByTool }),
	"mcp_users_with_mcp":         results.Float64("Number of users with MCP.", func(r *analytics.ToolRow) *float64 { return r.MCPUsersWithMCP }),
	"mcp_by_server":              results.List("Calls by MCP server, ordered by `server`. Names that differ only in case are separate items.", mcpInvocations, func(r *analytics.ToolRow) []analytics.MCPInvocations { return r.MCPByServer }),
	"skills_invocations":         results.Float64("Number of times skills were used.", func(r *analytics.ToolRow) *float64 { return r.SkillsInvocations }),
	"skills_by_name":             results.List("Uses by skill, ordered by `name`.", nameCount("skill"), func(r *analytics.ToolRow) []analytics.NameCount { return r.SkillsByName }),
	"slash_commands_invocations": results.Float64("Number of times slash commands were used.", func(r *analytics.ToolRow) *float64 { return r.SlashCommandsInvocations }),
	"slash_commands_by_name":     results.List("Uses by slash command, ordered by `name`.", nameCount("slash command"), func(r *analytics.ToolRow) []analytics.NameCount { return r.SlashCommandsByName }),
	"hooks_invocations":          results.Float64("Number of hook runs.", func(r *analytics.ToolRow) *float64 { return r.HooksInvocations }),
	"hooks_by_event":             results.List("Runs by hook, ordered by `event`, `matcher`, and `command`.", hookCount, func(r *analytics.ToolRow) []analytics.HookCount { return r.HooksByEvent }),
	"web_users":                  results.Float64("Number of web users.", func(r *analytics.ToolRow) *float64 { return r.WebUsers }),
	"autonomy_ratio_avg":         results.Float64("Average number of tool calls per user turn.", func(r *analytics.ToolRow) *float64 { return r.AutonomyRatioAvg }),
	"autonomy_ratio_p50":         results.Float64("Median number of tool calls per user turn.", func(r *analytics.ToolRow) *float64 { return r.AutonomyRatioP50 }),
	"autonomy_ratio_p90":         results.Float64("90th percentile of the number of tool calls per user turn.", func(r *analytics.ToolRow) *float64 { return r.AutonomyRatioP90 }),
	"tool_calls_per_session_avg": results.Float64("Average number of tool calls per session.", func(r *analytics.ToolRow) *float64 { return r.ToolCallsPerSessionAvg }),
	"user_turns_per_session_avg": results.Float64("Average number of user turns per session.", func(r *analytics.ToolRow) *float64 { return r.UserTurnsPerSessionAvg }),
	"tool_autonomy_level_ratio":  results.Object("Ratio of tool calls by autonomy level.", autonomyLevels, func(r *analytics.ToolRow) *analytics.AutonomyLevels { return r.ToolAutonomyLevelRatio }),
}

var toolInvocations = results.Fields[*analytics.ToolInvocations]{
	"tool":        results.StringPointer("Name of the tool.", func(t *analytics.ToolInvocations) *string { return t.Tool }),
	"invocations": results.Float64("Number of calls of the tool.", func(t *analytics.ToolInvocations) *float64 { return t.Invocations }),
}

var mcpInvocations = results.Fields[*analytics.MCPInvocations]{
	"server":      results.StringPointer("Name of the MCP server.", func(s *analytics.MCPInvocations) *string { return s.Server }),
	"invocations": results.Float64("Number of calls of its tools.", func(s *analytics.MCPInvocations) *float64 { return s.Invocations }),
}

func nameCount(what string) results.Fields[*analytics.NameCount] {
	return results.Fields[*analytics.NameCount]{
		"name":  results.StringPointer("Name of the "+what+".", func(n *analytics.NameCount) *string { return n.Name }),
		"count": results.Float64("Number of uses of the "+what+".", func(n *analytics.NameCount) *float64 { return n.Count }),
	}
}

var hookCount = results.Fields[*analytics.HookCount]{
	"event":   results.StringPointer("Event that runs the hook.", func(h *analytics.HookCount) *string { return h.Event }),
	"matcher": results.StringPointer("Pattern that the hook applies to.", func(h *analytics.HookCount) *string { return h.Matcher }),
	"command": results.StringPointer("Command of the hook.", func(h *analytics.HookCount) *string { return h.Command }),
	"count":   results.Float64("Number of runs of the hook.", func(h *analytics.HookCount) *float64 { return h.Count }),
}

var autonomyLevels = results.Fields[*analytics.AutonomyLevels]{
	"auto_high":   results.Float64("Ratio of the level `auto-high`.", func(l *analytics.AutonomyLevels) *float64 { return l.AutoHigh }),
	"auto_medium": results.Float64("Ratio of the level `auto-medium`.", func(l *analytics.AutonomyLevels) *float64 { return l.AutoMedium }),
	"auto_low":    results.Float64("Ratio of the level `auto-low`.", func(l *analytics.AutonomyLevels) *float64 { return l.AutoLow }),
	"manual":      results.Float64("Ratio of the level `manual`.", func(l *analytics.AutonomyLevels) *float64 { return l.Manual }),
}
