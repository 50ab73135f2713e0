data "agentyard_analytics_users" "team" {
  last_days   = 1
  user_emails = ["avery@agentyard.example", "blake@agentyard.example"]
}

output "team_credits" {
  value = sum(concat(
    [0], data.agentyard_analytics_users.team.data[*].billable_tokens
  ))
}
