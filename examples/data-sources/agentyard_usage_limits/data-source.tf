data "agentyard_usage_limits" "all" {}

output "global_limit" {
  value = data.agentyard_usage_limits.all.global_limit
}

output "limits_by_user" {
  value = {
    for u in data.agentyard_usage_limits.all.user_limits :
    u.email => u.limit if u.limit != null
  }
}

# Members who can use any number of credits.
output "unlimited" {
  value = [
    for m in data.agentyard_usage_limits.all.effective_limits :
    m.email if m.limit == null
  ]
}
