locals {
  team      = ["avery@agentyard.example", "blake@agentyard.example"]
  yesterday = formatdate("YYYY-MM-DD", timeadd(plantimestamp(), "-24h"))
}

data "agentyard_analytics_users" "team" {
  start_date  = local.yesterday
  end_date    = local.yesterday
  user_emails = local.team
}

output "team_credits" {
  value = sum(concat(
    [0], data.agentyard_analytics_users.team.data[*].billable_tokens
  ))
}
