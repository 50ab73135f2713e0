terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

locals {
  # Limits that differ from the global limit, in credits.
  exceptions = {
    "avery@agentyard.example" = 80000000
    "blake@agentyard.example" = 5000000
  }
}

# Applies to everyone without an exception.
resource "agentyard_global_usage_limit" "everybody" {
  limit = 20000000
}

data "agentyard_members" "all" {}

locals {
  members = [for m in data.agentyard_members.all.members : lower(m.email)]

  # Limits can be set for active members only.
  limits = {
    for email, limit in local.exceptions : lower(email) => limit
    if contains(local.members, lower(email))
  }
  not_members = [
    for email in keys(local.exceptions) : email
    if !contains(local.members, lower(email))
  ]
}

resource "agentyard_user_usage_limit" "exception" {
  for_each = local.limits

  email = each.key
  limit = each.value
}

# Warns about exceptions for addresses that are not members.
check "exceptions_are_members" {
  assert {
    condition     = length(local.not_members) == 0
    error_message = "Not members: ${join(", ", local.not_members)}."
  }
}
