package specimens

func days(more Values) Values {
	all := Values{"start_date": "$first_day", "end_date": "$last_day"}
	for name, v := range more {
		all[name] = v
	}
	return all
}

var analyticsData = []Read{
	{Type: "agentyard_analytics_activity", Values: days(nil)},
	{Type: "agentyard_analytics_activity", Name: "grouped", Values: days(Values{"group_by": "client"})},
	{Type: "agentyard_analytics_my_cost", Values: days(Values{"query_key": "headline_daily"})},
	{Type: "agentyard_analytics_productivity", Values: days(nil)},
	{
		Type: "agentyard_analytics_productivity", Name: "of the last days", Values: Values{"last_days": 2},
		Shows: `timecmp("${self.start_date}T00:00:00Z", "${self.end_date}T00:00:00Z") < 0`,
	},
	{Type: "agentyard_analytics_tokens", Values: days(nil)},
	{Type: "agentyard_analytics_tokens", Name: "grouped", Values: days(Values{"group_by": "model"})},
	{Type: "agentyard_analytics_tools", Values: days(nil)},
	{Type: "agentyard_analytics_tools", Name: "grouped", Values: days(Values{"group_by": "tool_name"})},
	{Type: "agentyard_analytics_users", Values: days(Values{"max_results": 100})},
	{Type: "agentyard_analytics_users", Name: "in pages", Values: days(nil), Paged: true, NotAtService: "The size of pages is the emulator's."},
}
