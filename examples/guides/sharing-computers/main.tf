terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

# The address and the key come from AGENTYARD_BASE_URL and AGENTYARD_API_KEY, so everybody uses a key of their own.
provider "agentyard" {}

# Owns what the team shares. Destroying it destroys its computers too.
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

# The key of a pipeline that works as the service account.
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
