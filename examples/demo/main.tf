terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

# The address and the key come from AGENTYARD_BASE_URL and AGENTYARD_API_KEY.
provider "agentyard" {}

variable "agents" {
  description = "Names of the agents that get a managed computer."
  type        = set(string)
  default     = ["ada", "grace"]
}

variable "workstation_user" {
  description = "User under which agents work on the registered machine."
  type        = string
  default     = "dev"
}

data "agentyard_computer_providers" "available" {}

# One managed computer for each agent, with a repository cloned and its dependencies installed.
resource "agentyard_computer" "agent" {
  for_each = var.agents

  name              = "agent-${each.key}"
  provider_type     = data.agentyard_computer_providers.available.providers[0]
  repos             = ["https://git.example/acme/app"]
  auto_install_deps = true
}

# A machine of one's own, registered with the service.
resource "agentyard_computer" "workstation" {
  name          = "workstation"
  provider_type = "byom"
  host_id       = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
  remote_user   = var.workstation_user
}

# Everything that the key can see, once the computers above are there.
data "agentyard_computers" "all" {
  depends_on = [agentyard_computer.agent, agentyard_computer.workstation]
}

output "agents" {
  description = "Where each agent works."
  value = {
    for agent, computer in agentyard_computer.agent : agent => {
      status      = computer.status
      address     = computer.relay_client_url
      directories = computer.cloned_repo_directories
    }
  }
}

output "computers" {
  description = "The names of all computers."
  value       = sort(data.agentyard_computers.all.computers[*].name)
}
