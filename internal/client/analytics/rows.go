package analytics

import "github.com/agentyard/terraform-provider-agentyard/internal/client/wire"

// TokenRow has the tokens used on a day, by all models or one. In all rows of analytics, nil means that the service did not
// return the field. An empty string is a value, such as the extension of a file without one.
type TokenRow struct {
	Date             string                      `json:"date"`
	GroupKey         *string                     `json:"group_key"`
	BillableTokens   *float64                    `json:"billable_tokens"`
	InputTokens      *float64                    `json:"input_tokens"`
	OutputTokens     *float64                    `json:"output_tokens"`
	CacheReadTokens  *float64                    `json:"cache_read_tokens"`
	CacheWriteTokens *float64                    `json:"cache_write_tokens"`
	ByModel          wire.Unordered[ModelTokens] `json:"by_model"`
	ByUser           wire.Unordered[UserTokens]  `json:"by_user"`
}

// ModelTokens has the tokens of a model.
type ModelTokens struct {
	ModelID        *string  `json:"model_id"`
	ModelTier      *string  `json:"model_tier"`
	BillableTokens *float64 `json:"billable_tokens"`
	InputTokens    *float64 `json:"input_tokens"`
	OutputTokens   *float64 `json:"output_tokens"`
}

// UserTokens has the tokens of a user. UserEmail is nil for a former member.
type UserTokens struct {
	UserID         *string                     `json:"user_id"`
	UserEmail      *string                     `json:"user_email"`
	BillableTokens *float64                    `json:"billable_tokens"`
	ByModel        wire.Unordered[ModelTokens] `json:"by_model"`
}

// ToolRow has the use of tools on a day, of all tools or one.
type ToolRow struct {
	Date                     string                          `json:"date"`
	GroupKey                 *string                         `json:"group_key"`
	ToolCalls                *float64                        `json:"tool_calls"`
	ByTool                   wire.Unordered[ToolInvocations] `json:"by_tool"`
	MCPUsersWithMCP          *float64                        `json:"mcp_users_with_mcp"`
	MCPByServer              wire.Unordered[MCPInvocations]  `json:"mcp_by_server"`
	SkillsInvocations        *float64                        `json:"skills_invocations"`
	SkillsByName             wire.Unordered[NameCount]       `json:"skills_by_name"`
	SlashCommandsInvocations *float64                        `json:"slash_commands_invocations"`
	SlashCommandsByName      wire.Unordered[NameCount]       `json:"slash_commands_by_name"`
	HooksInvocations         *float64                        `json:"hooks_invocations"`
	HooksByEvent             wire.Unordered[HookCount]       `json:"hooks_by_event"`
	WebUsers                 *float64                        `json:"web_users"`
	AutonomyRatioAvg         *float64                        `json:"autonomy_ratio_avg"`
	AutonomyRatioP50         *float64                        `json:"autonomy_ratio_p50"`
	AutonomyRatioP90         *float64                        `json:"autonomy_ratio_p90"`
	ToolCallsPerSessionAvg   *float64                        `json:"tool_calls_per_session_avg"`
	UserTurnsPerSessionAvg   *float64                        `json:"user_turns_per_session_avg"`
	ToolAutonomyLevelRatio   *AutonomyLevels                 `json:"tool_autonomy_level_ratio"`
}

// ToolInvocations is how often a tool was called.
type ToolInvocations struct {
	Tool        *string  `json:"tool"`
	Invocations *float64 `json:"invocations"`
}

// MCPInvocations is how often tools of an MCP server were called.
type MCPInvocations struct {
	Server      *string  `json:"server"`
	Invocations *float64 `json:"invocations"`
}

// NameCount is how often something with a name was used.
type NameCount struct {
	Name  *string  `json:"name"`
	Count *float64 `json:"count"`
}

// HookCount is how often a hook ran.
type HookCount struct {
	Event   *string  `json:"event"`
	Matcher *string  `json:"matcher"`
	Command *string  `json:"command"`
	Count   *float64 `json:"count"`
}

// AutonomyLevels are the shares of tool calls by the level of autonomy.
type AutonomyLevels struct {
	AutoHigh   *float64 `json:"auto_high"`
	AutoMedium *float64 `json:"auto_medium"`
	AutoLow    *float64 `json:"auto_low"`
	Manual     *float64 `json:"manual"`
}

// ActivityRow has the activity on a day, on all clients or one.
type ActivityRow struct {
	Date                     string              `json:"date"`
	GroupKey                 *string             `json:"group_key"`
	DailyActiveUsers         *float64            `json:"daily_active_users"`
	WeeklyActiveUsers        *float64            `json:"weekly_active_users"`
	MonthlyActiveUsers       *float64            `json:"monthly_active_users"`
	DailyActiveUsersByClient map[string]*float64 `json:"daily_active_users_by_client"`
	Sessions                 *float64            `json:"sessions"`
	Messages                 *float64            `json:"messages"`
	UserMessages             *float64            `json:"user_messages"`
}

// ProductivityRow has the files and commits of a day.
type ProductivityRow struct {
	Date          string                         `json:"date"`
	FilesCreated  *float64                       `json:"files_created"`
	FilesEdited   *float64                       `json:"files_edited"`
	ByExtension   wire.Unordered[ExtensionCount] `json:"by_extension"`
	ByLanguage    wire.Unordered[LanguageCount]  `json:"by_language"`
	GitCommits    *float64                       `json:"git_commits"`
	GitPRsCreated *float64                       `json:"git_prs_created"`
}

// ExtensionCount is how many files have an extension.
type ExtensionCount struct {
	Extension *string  `json:"extension"`
	Count     *float64 `json:"count"`
}

// LanguageCount is how many files are in a language.
type LanguageCount struct {
	Language *string  `json:"language"`
	Count    *float64 `json:"count"`
}

// UserRow has what a user did on a day. UserEmail is nil for a former member.
type UserRow struct {
	UserID            string                 `json:"user_id"`
	UserEmail         *string                `json:"user_email"`
	Date              string                 `json:"date"`
	ToolCalls         *float64               `json:"tool_calls"`
	BillableTokens    *float64               `json:"billable_tokens"`
	PrimaryModel      *string                `json:"primary_model"`
	PrimaryModelTier  *string                `json:"primary_model_tier"`
	FilesCreated      *float64               `json:"files_created"`
	FilesEdited       *float64               `json:"files_edited"`
	GitCommits        *float64               `json:"git_commits"`
	GitPRsCreated     *float64               `json:"git_prs_created"`
	MCPCalls          *float64               `json:"mcp_calls"`
	SkillCalls        *float64               `json:"skill_calls"`
	SlashCommands     *float64               `json:"slash_commands"`
	Hooks             *float64               `json:"hooks"`
	Sessions          *float64               `json:"sessions"`
	Messages          *float64               `json:"messages"`
	UserMessages      *float64               `json:"user_messages"`
	AssistantMessages *float64               `json:"assistant_messages"`
	AutonomyRatio     *float64               `json:"autonomy_ratio"`
	DelegationLevel   *string                `json:"delegation_level"`
	Languages         wire.Unordered[string] `json:"languages"`
}
