# Reads what exists in the organization.

terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

data "agentyard_service_accounts" "all" {}
data "agentyard_computers" "all" {}
data "agentyard_environments" "all" {}
data "agentyard_usage_limits" "all" {}
