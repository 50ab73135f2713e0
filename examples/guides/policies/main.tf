terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

resource "agentyard_service_account" "ci" {
  name = "ci"
}

resource "agentyard_api_key" "ci" {
  service_account_id = agentyard_service_account.ci.id
  name               = "pipeline"
  expires_in         = "30d"

  rotation = {
    before_expiry = "7d"
  }
}

resource "agentyard_computer" "ci" {
  name               = "runner-1"
  service_account_id = agentyard_service_account.ci.id
}

resource "agentyard_global_usage_limit" "all" {
  limit = 20000000
}
