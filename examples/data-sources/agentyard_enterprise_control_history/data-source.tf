data "agentyard_enterprise_control_history" "latest" {
  max_results = 10
}

output "who_changed_the_controls" {
  value = [for change in data.agentyard_enterprise_control_history.latest.changes : "${change.updated_at} ${coalesce(change.user.email, change.user.id)}"]
}

# The settings as a whole are sensitive; a single one that is no secret may be shown.
output "session_retention_days" {
  value = nonsensitive(try(jsondecode(data.agentyard_enterprise_control_history.latest.changes[0].settings).sessionRetentionDays, null))
}
