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

variable "agents" {
  description = "Names of the agents. Each gets a managed computer."
  type        = set(string)
  default     = ["ada", "grace"]
}

variable "workstation_user" {
  description = "User that agents run as on the registered machine."
  type        = string
  default     = "dev"
}

# One managed computer for each agent, with a cloned repository and installed dependencies.
resource "agentyard_computer" "agent" {
  for_each = var.agents

  name              = "agent-${each.key}"
  repos             = ["https://git.example/acme/app"]
  auto_install_deps = true
}

# Your own machine, registered with the service.
resource "agentyard_computer" "workstation" {
  name          = "workstation"
  provider_type = "byom"
  host_id       = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
  remote_user   = var.workstation_user
}

# All computers that the API key can see, including those above.
data "agentyard_computers" "all" {
  depends_on = [agentyard_computer.agent, agentyard_computer.workstation]
}

output "agents" {
  description = "Computer of each agent."
  value = {
    for agent, computer in agentyard_computer.agent : agent => {
      status      = computer.status
      address     = computer.relay_client_url
      directories = computer.cloned_repo_directories
    }
  }
}

output "computers" {
  description = "Names of all computers."
  value       = sort(data.agentyard_computers.all.computers[*].name)
}
