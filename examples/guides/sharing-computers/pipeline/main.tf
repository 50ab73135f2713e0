terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

# Set AGENTYARD_API_KEY to the key of the service account.
provider "agentyard" {}

# The service account owns the computer, because it owns the key.
resource "agentyard_computer" "runner" {
  name = "runner-1"
}
