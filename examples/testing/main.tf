# A team of agents: its service account, a key that rotates, and a managed
# computer for each agent. The tests in tests/ need no account.

terraform {
  required_version = ">= 1.6"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

variable "name" {
  description = "Name of the team."
  type        = string
}

variable "agents" {
  description = "Names of the agents."
  type        = set(string)

  validation {
    condition     = alltrue([for a in var.agents : can(regex("^[a-z]+$", a))])
    error_message = "An agent's name must consist of lowercase letters."
  }
}

resource "agentyard_service_account" "team" {
  name = var.name
}

resource "agentyard_api_key" "team" {
  service_account_id = agentyard_service_account.team.id
  name               = var.name
  expires_in         = "60d"

  rotation = {
    interval             = "30d"
    grace_period_minutes = 10
  }
}

resource "agentyard_computer" "agent" {
  for_each = var.agents

  name               = "${var.name}-${each.key}"
  service_account_id = agentyard_service_account.team.id
}

output "key_id" {
  description = "ID of the current key."
  value       = agentyard_api_key.team.id
}

output "computer_ids" {
  description = "IDs of the computers, by agent."
  value       = { for name, it in agentyard_computer.agent : name => it.id }
}
