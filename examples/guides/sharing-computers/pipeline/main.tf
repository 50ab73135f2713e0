terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

# Set AGENTYARD_API_KEY to the key of the service account.
provider "agentyard" {}

# The service account owns the computer, because it owns the key.
resource "agentyard_computer" "runner" {
  name = "runner-1"
}
