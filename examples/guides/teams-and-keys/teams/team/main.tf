terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

resource "agentyard_computer" "agent" {
  name  = "agent"
  repos = ["https://git.example/acme/app.git"]
}

resource "agentyard_session" "agent" {
  computer_id = agentyard_computer.agent.id
  cwd         = agentyard_computer.agent.cloned_repo_directories[0]
}

output "session_id" {
  value = agentyard_session.agent.id
}
