# A module that uses the pool.

terraform {
  required_version = ">= 1.6"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

module "pool" {
  source = "../.."

  name         = "builders"
  size         = 1
  repositories = { "https://code.example/acme/api" = "make deps" }
}

output "computer_id" {
  value = module.pool.computer_ids["builders-1"]
}
