terraform {
  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1"
    }
  }
}
