terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

# The address and the key come from AGENTYARD_BASE_URL and AGENTYARD_API_KEY.
provider "agentyard" {}
