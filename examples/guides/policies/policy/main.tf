terraform {
  required_version = ">= 1.5"
}

locals {
  plan = jsondecode(file("${path.module}/../plan.json"))

  # What each resource will be. Deleted resources have no values.
  planned = [
    for r in try(local.plan.resource_changes, []) : {
      address = r.address
      type    = r.type
      after   = r.change.after
      unknown = r.change.after_unknown
    } if r.mode == "managed" && r.change.after != null
  ]

  # Values that are not known yet, such as the ID of a new account, are set.
  no_owner = [
    for r in local.planned : r.address
    if contains(["agentyard_computer", "agentyard_computer_fleet"], r.type) &&
    try(r.after.service_account_id, null) == null &&
    !try(r.unknown.service_account_id, false)
  ]

  # A duration can have several units, such as "1w12h".
  hours = { w = 168, d = 24, h = 1, m = 1 / 60, s = 1 / 3600 }

  bad_expiry = [
    for r in local.planned : r.address if r.type == "agentyard_api_key" && try(
      sum([
        for part in regexall("([0-9.]+)([a-z]+)", r.after.expires_in) :
        part[0] * local.hours[part[1]]
      ]) > 90 * 24,
      true # Without expires_in, the key may live forever.
    )
  ]

  high_limit = [
    for r in local.planned : r.address
    if can(regex("^agentyard_(global|user)_usage_limits?$", r.type)) &&
    (try(length(r.unknown.limits) > 0, false) || try(max(0, values(
      try(r.after.limits, { one = r.after.limit })
    )...) > 100000000, true))
  ]

  # Operations that remove something, as resources and as actions.
  removal = "^agentyard_(api_key_revoke|member_remove)$"

  removals = concat([
    for r in try(local.plan.resource_changes, []) : r.address
    if can(regex(local.removal, r.type)) && contains(r.change.actions, "create")
    ], [
    for a in try(local.plan.action_invocations, []) : a.address
    if can(regex(local.removal, a.type))
  ])

  # Terraform itself only warns if a check fails.
  failed = [
    for c in try(local.plan.checks, []) : c.address.to_display
    if contains(["fail", "error"], c.status)
  ]
}

output "result" {
  value = "${length(local.planned)} resources follow the policy."

  # The state, which show prints without a file, has no planned values.
  precondition {
    condition     = can(local.plan.planned_values)
    error_message = "plan.json is not a plan."
  }
  precondition {
    condition     = length(local.no_owner) == 0
    error_message = "Set service_account_id: ${join(", ", local.no_owner)}."
  }
  precondition {
    condition     = length(local.bad_expiry) == 0
    error_message = "Limit expires_in to 90d: ${join(", ", local.bad_expiry)}."
  }
  precondition {
    condition     = length(local.high_limit) == 0
    error_message = "Limit above 100 million: ${join(", ", local.high_limit)}."
  }
  precondition {
    condition     = length(local.removals) == 0
    error_message = "Removed by hand only: ${join(", ", local.removals)}."
  }
  precondition {
    condition     = length(local.failed) == 0
    error_message = "Failed: ${join(", ", local.failed)}."
  }
}
