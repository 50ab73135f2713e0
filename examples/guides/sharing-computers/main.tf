terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

# Each member sets AGENTYARD_BASE_URL and their own AGENTYARD_API_KEY.
provider "agentyard" {}

# Owns the shared computers. Destroying it also deletes them.
resource "agentyard_service_account" "team" {
  name        = "team-builds"
  description = "Owns the computers that the team shares"
}

resource "agentyard_computer" "shared" {
  for_each = toset(["build-1", "build-2"])

  name               = each.key
  service_account_id = agentyard_service_account.team.id
}

resource "agentyard_computer_fleet" "pool" {
  name_prefix        = "pool"
  quantity           = 3
  service_account_id = agentyard_service_account.team.id
}

# The key for a pipeline that works as the service account.
resource "agentyard_api_key" "pipeline" {
  service_account_id = agentyard_service_account.team.id
  name               = "pipeline"
  expires_in         = "30d"

  rotation = {
    before_expiry = "7d"
  }
}

output "pipeline_key" {
  value     = agentyard_api_key.pipeline.key
  sensitive = true
}
