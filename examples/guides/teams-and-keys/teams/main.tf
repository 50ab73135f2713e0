terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

variable "keys" {
  description = "API key of each team's service account, and the account's ID."
  type        = map(object({ value = string, owner = string }))
  sensitive   = true
}

provider "agentyard" {
  alias     = "blue"
  api_key   = var.keys["blue"].value
  key_owner = var.keys["blue"].owner # Stays the same when the key rotates.
}

provider "agentyard" {
  alias     = "red"
  api_key   = var.keys["red"].value
  key_owner = var.keys["red"].owner
}

module "blue" {
  source    = "./team"
  providers = { agentyard = agentyard.blue }
}

module "red" {
  source    = "./team"
  providers = { agentyard = agentyard.red }
}

output "sessions" {
  value = { blue = module.blue.session_id, red = module.red.session_id }
}
