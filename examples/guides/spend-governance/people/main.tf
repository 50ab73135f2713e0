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
  # One entry for each member. Limits are in credits.
  people = {
    casey = { email = "casey@agentyard.example", limit = 10000000 }
    devon = { email = "devon@agentyard.example", limit = 20000000 }
  }
}

resource "agentyard_member_invitation" "member" {
  for_each = local.people

  email             = each.value.email
  remove_on_destroy = true
}

data "agentyard_members" "all" {}

locals {
  members = [for m in data.agentyard_members.all.members : lower(m.email)]
}

# Limits can be set for active members only.
resource "agentyard_user_usage_limit" "member" {
  for_each = {
    for name, member in local.people : name => member
    if contains(local.members, lower(member.email))
  }

  email = agentyard_member_invitation.member[each.key].email
  limit = each.value.limit
}

# The agents of each member, with a key and a computer.
resource "agentyard_service_account" "agents" {
  for_each = local.people

  name = "${each.key}-agents"
}

resource "agentyard_api_key" "agents" {
  for_each = local.people

  service_account_id = agentyard_service_account.agents[each.key].id
  name               = "agents"
}

resource "agentyard_computer" "agents" {
  for_each = local.people

  service_account_id = agentyard_service_account.agents[each.key].id
  name               = "${each.key}-agents"
}
