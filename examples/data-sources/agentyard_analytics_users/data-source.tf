data "agentyard_analytics_users" "february" {
  start_date = "2026-02-01"
  end_date   = "2026-02-28"
}

output "credits_by_user" {
  value = {
    for user, credits in { for row in data.agentyard_analytics_users.february.data : row.user_id => row.billable_tokens... } :
    user => sum(credits)
  }
}
