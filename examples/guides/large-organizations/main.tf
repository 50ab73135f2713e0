terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

provider "agentyard" {
  requests_per_second = 20
}

resource "agentyard_computer_fleet" "workers" {
  name_prefix = "worker"
  quantity    = 200
}
