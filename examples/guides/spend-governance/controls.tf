locals {
  # Increase this after you review a revision.
  reviewed_revision = 3
}

data "agentyard_enterprise_control_history" "latest" {
  max_results = 20
}

locals {
  history = data.agentyard_enterprise_control_history.latest.changes
  new_revisions = [
    for r in local.history : r if r.revision > local.reviewed_revision
  ]
}

check "controls_are_as_reviewed" {
  assert {
    condition = length(local.new_revisions) == 0
    error_message = join("\n", [
      for r in local.new_revisions :
      "Revision ${r.revision} is by ${coalesce(r.user.email, r.user.id)}."
    ])
  }
}
