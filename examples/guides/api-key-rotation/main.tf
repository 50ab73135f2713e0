terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

resource "agentyard_service_account" "builds" {
  name = "builds"
}

resource "agentyard_api_key" "scheduled" {
  service_account_id = agentyard_service_account.builds.id
  name               = "scheduled"
  expires_in         = "30d"

  rotation = {
    before_expiry = "7d"
  }
}
