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
  teams = toset(["blue", "red"])
}

resource "agentyard_service_account" "team" {
  for_each = local.teams
  name     = each.key
}

resource "agentyard_api_key" "team" {
  for_each = local.teams

  service_account_id = agentyard_service_account.team[each.key].id
  name               = "terraform"
  expires_in         = "30d"

  rotation = {
    before_expiry        = "7d"
    grace_period_minutes = 10
  }
}

output "keys" {
  value = {
    for team, key in agentyard_api_key.team :
    team => { value = key.key, owner = key.service_account_id }
  }
  sensitive = true
}
