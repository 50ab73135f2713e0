terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

provider "agentyard" {}

resource "agentyard_service_account" "agents" {
  name = "agents"
}

resource "agentyard_computer_fleet" "agents" {
  name_prefix        = "agent"
  quantity           = 2
  service_account_id = agentyard_service_account.agents.id
}

output "computers" {
  value = keys(agentyard_computer_fleet.agents.computers)
}
