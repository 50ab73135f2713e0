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
  name  = "agents"
  scope = "organization"

  repositories = [
    {
      url    = "https://git.example/acme/app.git"
      script = "make dependencies"
    },
    {
      url = "https://git.example/acme/tools.git"
    },
  ]

  timeouts {
    create = "30m"
    update = "30m"
  }
}

resource "agentyard_default_environment" "this" {
  environment_id = agentyard_environment.agents.id
}
