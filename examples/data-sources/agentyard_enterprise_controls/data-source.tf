data "agentyard_enterprise_controls" "current" {}

check "controls" {
  assert {
    condition     = contains(["off", "low", "medium"], coalesce(data.agentyard_enterprise_controls.current.max_autonomy_level, "unset"))
    error_message = "Sessions may use a higher autonomy level than medium."
  }

  assert {
    condition     = try(data.agentyard_enterprise_controls.current.sandbox.enabled, false) == true
    error_message = "The sandbox is disabled."
  }
}

output "controls_revision" {
  value = data.agentyard_enterprise_controls.current.revision
}
