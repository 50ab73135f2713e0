terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

variable "tasks" {
  description = "The task of each agent, by computer."
  type        = map(string)
  default = {
    agent-1 = "Upgrade the dependencies, and run all tests."
    agent-2 = "Find the slowest test, and make it faster."
  }
}

resource "agentyard_computer_fleet" "agents" {
  name_prefix = "agent"
  quantity    = 2
}

# Replacing this replaces the sessions.
resource "terraform_data" "night" {}

resource "agentyard_session" "agent" {
  for_each = var.tasks

  computer_id = agentyard_computer_fleet.agents.computers[each.key].id

  lifecycle {
    replace_triggered_by = [terraform_data.night]
  }
}
