locals {
  # Increase this after you review a revision.
  reviewed_revision = 3
}

data "agentyard_enterprise_control_history" "latest" {
  max_results = 20
}

check "controls_are_as_reviewed" {
  assert {
    condition = alltrue([for change in data.agentyard_enterprise_control_history.latest.changes : change.revision <= local.reviewed_revision])
    error_message = join("\n", [
      for change in data.agentyard_enterprise_control_history.latest.changes :
      "Revision ${change.revision} was made at ${change.updated_at} by ${coalesce(change.user.email, change.user.id)}."
      if change.revision > local.reviewed_revision
    ])
  }
}
