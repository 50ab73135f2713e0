terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

locals {
  # Who may spend more, or less, than the rest, in credits.
  exceptions = {
    "avery@agentyard.example" = 80000000
    "blake@agentyard.example" = 5000000
  }
}

# For everybody who is no exception.
resource "agentyard_global_usage_limit" "everybody" {
  limit = 20000000
}

data "agentyard_members" "all" {}

locals {
  members = [for member in data.agentyard_members.all.members : lower(member.email)]

  # Who has left, or has not accepted the invitation yet, has no limit that could be set.
  limits = { for email, limit in local.exceptions : lower(email) => limit if contains(local.members, lower(email)) }
}

resource "agentyard_user_usage_limit" "exception" {
  for_each = local.limits

  email = each.key
  limit = each.value
}

# Says whom the exceptions name in vain.
check "exceptions_are_members" {
  assert {
    condition     = length(local.exceptions) == length(local.limits)
    error_message = "No members: ${join(", ", [for email in keys(local.exceptions) : email if !contains(local.members, lower(email))])}."
  }
}
