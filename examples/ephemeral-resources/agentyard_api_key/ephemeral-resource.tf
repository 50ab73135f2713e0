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

variable "computer_id" {
  description = "ID of the computer that gets a key of its own."
  type        = string
}

# A key that works after the run. Only the first apply creates it.
ephemeral "agentyard_api_key" "deploy" {
  service_account_id = var.service_account_id
  name               = "deploy-v1"
  keep               = terraform.applying
}

# If a run was killed, the key exists, but its value is lost. Creating this
# resource then fails, and nothing is uploaded. Later changes need no value.
resource "agentyard_computer_file_upload" "key" {
  computer_id        = var.computer_id
  file_name          = "deploy-key-v1"
  content_wo         = ephemeral.agentyard_api_key.deploy.key
  content_wo_version = "1"
}
