# The 28 days that ended yesterday.
data "agentyard_analytics_users" "recent" {
  last_days = 28
}

locals {
  credits_by_user = {
    for row in data.agentyard_analytics_users.recent.data :
    row.user_id => row.billable_tokens...
  }
}

output "credits_by_user" {
  value = { for user, credits in local.credits_by_user : user => sum(credits) }
}
