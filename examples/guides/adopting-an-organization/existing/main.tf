terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

resource "agentyard_computer" "build" {
  for_each = toset(["build-1", "build-2"])
  name     = each.key
}

resource "agentyard_environment" "agents" {
  name         = "agents"
  scope        = "organization"
  repositories = [{ url = "https://git.example/acme/app.git", script = "make" }]
}

resource "agentyard_service_account" "ci" {
  name = "ci"
}

resource "agentyard_api_key" "pipeline" {
  service_account_id = agentyard_service_account.ci.id
  name               = "pipeline"
}

resource "agentyard_computer" "runner" {
  service_account_id = agentyard_service_account.ci.id
  name               = "runner-1"
}

# The emulator's member.
resource "agentyard_user_usage_limit" "manager" {
  email = "manager@agentyard.example"
  limit = 5000000
}

output "ids" {
  value = {
    computers = { for name, c in agentyard_computer.build : name => c.id }
    account   = agentyard_service_account.ci.id
    key       = agentyard_api_key.pipeline.id
    runner    = agentyard_computer.runner.id
  }
}
