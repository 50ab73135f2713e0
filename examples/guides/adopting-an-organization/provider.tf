terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

# Set AGENTYARD_BASE_URL and AGENTYARD_API_KEY.
provider "agentyard" {}
