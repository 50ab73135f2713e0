package analytics

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// ActivityDataSource is the data source agentyard_analytics_activity.
var ActivityDataSource = ofOrganization("analytics_activity", "Returns the active users, sessions, and messages of the organization for each day.", "", "analytics of activity", activityRow,
	dateAndGroup, groupBy("client", "client", "`daily_active_users`"), func(c *analytics.Client) *analytics.Query[analytics.ActivityRow] { return c.Activity })

var activityRow = results.Fields[*analytics.ActivityRow]{
	"date":                 dateOfRow(func(r *analytics.ActivityRow) string { return r.Date }),
	"group_key":            groupOfRow("The client, spelled like the keys of `daily_active_users_by_client`.", func(r *analytics.ActivityRow) *string { return r.GroupKey }),
	"daily_active_users":   results.Float64("Users who were active on the day, each counted once.", func(r *analytics.ActivityRow) *float64 { return r.DailyActiveUsers }),
	"weekly_active_users":  results.Float64("Users who were active on the day or in the 6 days before it.", func(r *analytics.ActivityRow) *float64 { return r.WeeklyActiveUsers }),
	"monthly_active_users": results.Float64("Users who were active on the day or in the 29 days before it.", func(r *analytics.ActivityRow) *float64 { return r.MonthlyActiveUsers }),
	"daily_active_users_by_client": {
		Text:  "Users who were active on the day, by client: `terminal-ui`, `web` (the web app), and `non-interactive-cli`. A user of several clients counts for each.",
		Type:  types.MapType{ElemType: types.Float64Type},
		Value: usersByClient,
	},
	"sessions":      results.Float64("Number of sessions.", func(r *analytics.ActivityRow) *float64 { return r.Sessions }),
	"messages":      results.Float64("Messages of users and of the assistant.", func(r *analytics.ActivityRow) *float64 { return r.Messages }),
	"user_messages": results.Float64("Messages of users.", func(r *analytics.ActivityRow) *float64 { return r.UserMessages }),
}

func usersByClient(r *analytics.ActivityRow) attr.Value {
	if r.DailyActiveUsersByClient == nil {
		return types.MapNull(types.Float64Type)
	}
	users := make(map[string]attr.Value, len(r.DailyActiveUsersByClient))
	for name, count := range r.DailyActiveUsersByClient {
		users[name] = types.Float64PointerValue(count)
	}
	return types.MapValueMust(types.Float64Type, users)
}
