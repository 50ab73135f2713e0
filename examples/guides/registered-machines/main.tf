terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

variable "host_id" {
  description = "ID that the service knows the machine by, if it has one."
  type        = string
  default     = null
}

resource "agentyard_computer" "workstation" {
  name          = "workstation"
  provider_type = "byom"
  host_id       = var.host_id
  remote_user   = "dev" # Your user account on the machine.
}

output "workstation" {
  value = {
    id               = agentyard_computer.workstation.id
    status           = agentyard_computer.workstation.status
    relay_client_url = agentyard_computer.workstation.relay_client_url
    relay_agent_url  = agentyard_computer.workstation.relay_agent_url
  }
}
