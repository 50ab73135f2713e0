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
  description = "API key of each team's service account."
  type        = map(string)
  sensitive   = true
}

provider "agentyard" {
  alias   = "blue"
  api_key = var.keys["blue"]
}

provider "agentyard" {
  alias   = "red"
  api_key = var.keys["red"]
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
