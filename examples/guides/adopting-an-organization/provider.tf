terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

# Set AGENTYARD_BASE_URL and AGENTYARD_API_KEY.
provider "agentyard" {}
