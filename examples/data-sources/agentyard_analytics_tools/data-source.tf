data "agentyard_analytics_tools" "february" {
  start_date = "2026-02-01"
  end_date   = "2026-02-28"
}

# The same days, with a row for each tool.
data "agentyard_analytics_tools" "by_name" {
  start_date = "2026-02-01"
  end_date   = "2026-02-28"
  group_by   = "tool_name"
}

output "tool_calls_each_day" {
  value = {
    for row in data.agentyard_analytics_tools.february.data :
    row.date => row.tool_calls
  }
}

output "tools" {
  value = distinct(data.agentyard_analytics_tools.by_name.data[*].group_key)
}
