locals {
  # Change it to rotate the key.
  key_generation = "1"
}

resource "agentyard_api_key" "deploy" {
  service_account_id = agentyard_service_account.builds.id
  name               = "deploy"
  expires_in         = "30d"

  rotation = {
    before_expiry        = "7d"
    grace_period_minutes = 10
    triggers = {
      generation = local.key_generation
    }
  }
}

# Stands for a user of the key. It is replaced in the same apply, while the old
# key still works.
resource "terraform_data" "deployment" {
  triggers_replace = agentyard_api_key.deploy.fingerprint

  provisioner "local-exec" {
    command = "test -n \"$AGENT_KEY\""

    environment = {
      AGENT_KEY = agentyard_api_key.deploy.key
    }
  }
}
