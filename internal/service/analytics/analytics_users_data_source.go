package analytics

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type usersModel struct {
	daysModel
	UserEmails []string    `tfsdk:"user_emails"`
	MaxResults types.Int64 `tfsdk:"max_results"`
}

// UsersDataSource is the data source agentyard_analytics_users.
var UsersDataSource = crud.DataSource{
	Name: "analytics_users",
	Description: "Returns the usage of each user of the organization on each day. " +
		"All entries are stored in the state. With thousands of users, read a few days at a time, or only some users." + managersOnly,
	Attributes: attributes(userRow.DataSourceRows("One entry for each user and day, ordered by `date` and then `user_id`."+quietDays), map[string]schema.Attribute{
		"user_emails": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Email addresses of the users to return. Case-insensitive. Addresses without activity have no entries. Defaults to all users.",
			Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(value.Email())},
		},
		"max_results": results.MaxResults("Maximum number of entries to return. The service should return one user after another, so later users are left out" + crud.Assumed("get-user-analytics") + " Defaults to all entries."),
	}),
	Validators: []datasource.ConfigValidator{oneStart},
	Verb:       "read", Object: "analytics of users", Options: organizationOptions,
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *usersModel) error {
		return fetch(ctx, c, &m.daysModel, userRow, func(days analytics.Days) (*analytics.Report[analytics.UserRow], error) {
			return c.Analytics.Users(ctx, days, m.UserEmails, int(m.MaxResults.ValueInt64()))
		})
	}),
}

const (
	userIDText    = "ID of the user."
	userEmailText = "Email address of the user. Can be null."
)

var userRow = results.Fields[*analytics.UserRow]{
	"user_id":            results.String(userIDText, func(r *analytics.UserRow) string { return r.UserID }),
	"user_email":         results.StringPointer(userEmailText, func(r *analytics.UserRow) *string { return r.UserEmail }),
	"date":               dateOfRow(func(r *analytics.UserRow) string { return r.Date }),
	"tool_calls":         results.Float64("Number of tool calls.", func(r *analytics.UserRow) *float64 { return r.ToolCalls }),
	"billable_tokens":    results.Float64("Standard credits used by the user.", func(r *analytics.UserRow) *float64 { return r.BillableTokens }),
	"primary_model":      results.StringPointer("ID of the user's primary model.", func(r *analytics.UserRow) *string { return r.PrimaryModel }),
	"primary_model_tier": results.StringPointer("Tier of that model: `standard` or `thinking`.", func(r *analytics.UserRow) *string { return r.PrimaryModelTier }),
	"files_created":      results.Float64("Number of files created.", func(r *analytics.UserRow) *float64 { return r.FilesCreated }),
	"files_edited":       results.Float64("Number of files edited.", func(r *analytics.UserRow) *float64 { return r.FilesEdited }),
	"git_commits":        results.Float64("Number of Git commits.", func(r *analytics.UserRow) *float64 { return r.GitCommits }),
	"git_prs_created":    results.Float64("Number of pull requests opened.", func(r *analytics.UserRow) *float64 { return r.GitPRsCreated }),
	"mcp_calls":          results.Float64("Number of calls of tools of MCP servers.", func(r *analytics.UserRow) *float64 { return r.MCPCalls }),
	"skill_calls":        results.Float64("Number of times skills were used.", func(r *analytics.UserRow) *float64 { return r.SkillCalls }),
	"slash_commands":     results.Float64("Number of times slash commands were used.", func(r *analytics.UserRow) *float64 { return r.SlashCommands }),
	"hooks":              results.Float64("Number of hook runs.", func(r *analytics.UserRow) *float64 { return r.Hooks }),
	"sessions":           results.Float64("Number of sessions.", func(r *analytics.UserRow) *float64 { return r.Sessions }),
	"messages":           results.Float64("Messages of the user and of the assistant.", func(r *analytics.UserRow) *float64 { return r.Messages }),
	"user_messages":      results.Float64("Messages of the user.", func(r *analytics.UserRow) *float64 { return r.UserMessages }),
	"assistant_messages": results.Float64("Messages of the assistant.", func(r *analytics.UserRow) *float64 { return r.AssistantMessages }),
	"autonomy_ratio":     results.Float64("The user's autonomy ratio.", func(r *analytics.UserRow) *float64 { return r.AutonomyRatio }),
	"delegation_level":   results.StringPointer("The user's delegation level: `auto-high`, `auto-medium`, `auto-low`, `spec`, or `manual`.", func(r *analytics.UserRow) *string { return r.DelegationLevel }),
	"languages":          results.StringList("Names of languages.", func(r *analytics.UserRow) []string { return r.Languages }),
}
