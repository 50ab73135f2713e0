variable "service_account_id" {
  description = "ID of the service account to act as."
  type        = string
}

# A key for this run alone: it is revoked at the end, and expires after half an hour in any case.
ephemeral "agentyard_api_key" "run" {
  service_account_id = var.service_account_id
  name               = "terraform-run"
  expires_in         = "30m"
}

# It can be handed to providers, to write-only arguments and to provisioners. No state and no plan holds it.
provider "agentyard" {
  alias   = "robot"
  api_key = ephemeral.agentyard_api_key.run.key
}

data "agentyard_computers" "of_the_robot" {
  provider = agentyard.robot
}
