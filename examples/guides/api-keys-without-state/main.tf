terraform {
  required_version = ">= 1.10"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

# The service account that the other provider acts as.
data "agentyard_service_account" "robots" {
  name = "robots"
}

ephemeral "agentyard_api_key" "run" {
  service_account_id = data.agentyard_service_account.robots.id
  name               = "terraform-run"
  expires_in         = "20m"
}

# Any provider with a credential works. This one acts as the service account.
provider "agentyard" {
  alias   = "robot"
  api_key = ephemeral.agentyard_api_key.run.key
  # The same in each run, unlike the key.
  key_owner = data.agentyard_service_account.robots.id
}

data "agentyard_computers" "of_the_robot" {
  provider = agentyard.robot
}

output "computers" {
  value = length(data.agentyard_computers.of_the_robot.computers)
}
