terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

resource "agentyard_environment" "agents" {
  name  = "app"
  scope = "organization"

  repositories = [{
    url    = "https://git.example/acme/app.git"
    script = "make dependencies"
  }]

  make_organization_default = true
}

resource "agentyard_computer" "agent" {
  name  = "agent-1"
  repos = ["https://git.example/acme/app.git"]

  # The API documents do not say which environment a computer uses. This
  # assumes the organization's default.
  depends_on = [agentyard_environment.agents]
}

resource "agentyard_session" "task" {
  computer_id = agentyard_computer.agent.id
  cwd         = agentyard_computer.agent.cloned_repo_directories[0]

  session_settings = {
    interaction_mode = "auto"
    autonomy_level   = "low"
    tags             = [{ name = "task", metadata = { ticket = "APP-17" } }]
  }

  system_prompt_append = "Run make check before each commit."
}

output "session_id" {
  value = agentyard_session.task.id
}
