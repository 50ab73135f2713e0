data "agentyard_analytics_users" "february" {
  start_date = "2026-02-01"
  end_date   = "2026-02-28"
}

locals {
  credits_by_user = {
    for row in data.agentyard_analytics_users.february.data :
    row.user_id => row.billable_tokens...
  }
}

output "credits_by_user" {
  value = { for user, credits in local.credits_by_user : user => sum(credits) }
}
