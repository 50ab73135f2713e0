data "agentyard_analytics_activity" "february" {
  start_date = "2026-02-01"
  end_date   = "2026-02-28"
}

# The same days, with a row for each client.
data "agentyard_analytics_activity" "by_client" {
  start_date = "2026-02-01"
  end_date   = "2026-02-28"
  group_by   = "client"
}

output "active_users_at_the_end" {
  value = one([
    for row in data.agentyard_analytics_activity.february.data :
    row.monthly_active_users if row.date == "2026-02-28"
  ])
}

output "active_on_the_web" {
  value = {
    for row in data.agentyard_analytics_activity.by_client.data :
    row.date => row.daily_active_users if row.group_key == "web"
  }
}
