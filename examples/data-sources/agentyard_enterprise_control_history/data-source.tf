data "agentyard_enterprise_control_history" "latest" {
  max_results = 10
}

locals {
  changes = data.agentyard_enterprise_control_history.latest.changes
}

output "who_changed_the_controls" {
  value = [
    for change in local.changes :
    "${change.updated_at} ${coalesce(change.user.email, change.user.id)}"
  ]
}

# The settings as a whole are sensitive. This setting is not a secret.
output "session_retention_days" {
  value = nonsensitive(
    try(jsondecode(local.changes[0].settings).sessionRetentionDays, null)
  )
}
