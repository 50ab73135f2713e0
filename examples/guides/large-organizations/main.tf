terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
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
