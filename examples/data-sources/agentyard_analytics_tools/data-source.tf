# The 28 days that ended yesterday.
data "agentyard_analytics_tools" "recent" {
  last_days = 28
}

# The same days, with a row for each tool.
data "agentyard_analytics_tools" "by_name" {
  last_days = 28
  group_by  = "tool_name"
}

output "tool_calls_each_day" {
  value = {
    for row in data.agentyard_analytics_tools.recent.data :
    row.date => row.tool_calls
  }
}

output "tools" {
  value = distinct(data.agentyard_analytics_tools.by_name.data[*].group_key)
}
