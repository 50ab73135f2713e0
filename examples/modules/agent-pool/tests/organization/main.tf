# Reads what exists in the organization.

terraform {
  required_version = ">= 1.6"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

data "agentyard_service_accounts" "all" {}
data "agentyard_computers" "all" {}
data "agentyard_environments" "all" {}
data "agentyard_usage_limits" "all" {}
