terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

# base_url and api_key come from AGENTYARD_BASE_URL and AGENTYARD_API_KEY.
provider "agentyard" {}

# An account for a pipeline, and a key that the first apply after 30 days
# rotates. Apply every night.
resource "agentyard_service_account" "ci" {
  name = "ci"
}

resource "agentyard_api_key" "ci" {
  service_account_id = agentyard_service_account.ci.id
  name               = "pipeline"
  expires_in         = "60d"
  rotation           = { interval = "30d" }
}

# Three computers for agents.
resource "agentyard_computer_fleet" "agents" {
  name_prefix = "agent"
  quantity    = 3
}
