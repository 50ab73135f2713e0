terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

variable "service_account_id" {
  description = "ID of the service account that the other provider acts as."
  type        = string
}

ephemeral "agentyard_api_key" "run" {
  service_account_id = var.service_account_id
  name               = "terraform-run"
  expires_in         = "20m"
}

# Any provider with a credential works. This one acts as the service account.
provider "agentyard" {
  alias     = "robot"
  api_key   = ephemeral.agentyard_api_key.run.key
  key_owner = var.service_account_id # The same in each run, unlike the key.
}

data "agentyard_computers" "of_the_robot" {
  provider = agentyard.robot
}

output "computers" {
  value = length(data.agentyard_computers.of_the_robot.computers)
}
