data "agentyard_enterprise_controls" "current" {}

locals {
  controls = data.agentyard_enterprise_controls.current
}

check "controls" {
  assert {
    condition = contains(
      ["off", "low", "medium"],
      coalesce(local.controls.max_autonomy_level, "unset"),
    )
    error_message = "Sessions may use a higher autonomy level than medium."
  }

  assert {
    condition     = try(local.controls.sandbox.enabled, false) == true
    error_message = "The sandbox is disabled."
  }
}

output "controls_revision" {
  value = local.controls.revision
}
