terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

# AGENTYARD_API_KEY holds the key of the service account.
provider "agentyard" {}

# The key's owner is the service account, so the computer is the account's without service_account_id.
resource "agentyard_computer" "runner" {
  name = "runner-1"
}
