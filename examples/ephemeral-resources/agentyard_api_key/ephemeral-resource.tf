variable "service_account_id" {
  description = "ID of the service account to act as."
  type        = string
}

# A key for this run only. A successful run revokes it at the end. After an
# error or Ctrl-C, it works until it expires, so choose a short time.
ephemeral "agentyard_api_key" "run" {
  service_account_id = var.service_account_id
  name               = "terraform-run"
  expires_in         = "30m"
}

# Use the key in provider blocks, write-only arguments, and provisioners.
provider "agentyard" {
  alias     = "robot"
  api_key   = ephemeral.agentyard_api_key.run.key
  key_owner = var.service_account_id # The same in each run, unlike the key.
}

data "agentyard_computers" "of_the_robot" {
  provider = agentyard.robot
}
