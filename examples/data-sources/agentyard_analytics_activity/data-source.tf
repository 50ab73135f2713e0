# The 28 days that ended yesterday.
data "agentyard_analytics_activity" "recent" {
  last_days = 28
}

# The same days, with a row for each client.
data "agentyard_analytics_activity" "by_client" {
  last_days = 28
  group_by  = "client"
}

output "active_users_yesterday" {
  value = one([
    for row in data.agentyard_analytics_activity.recent.data :
    row.monthly_active_users
    if row.date == data.agentyard_analytics_activity.recent.end_date
  ])
}

output "active_on_the_web" {
  value = {
    for row in data.agentyard_analytics_activity.by_client.data :
    row.date => row.daily_active_users if row.group_key == "web"
  }
}
