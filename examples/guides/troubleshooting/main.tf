terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

provider "agentyard" {}

data "agentyard_computer_providers" "all" {}

output "providers" {
  value = data.agentyard_computer_providers.all.providers
}
