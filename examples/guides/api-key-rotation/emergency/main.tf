terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

variable "account" {
  description = "Name of the service account whose keys are revoked."
  type        = string
}

data "agentyard_service_account" "leaked" {
  name = var.account
}

data "agentyard_api_keys" "leaked" {
  service_account_id = data.agentyard_service_account.leaked.id
}

resource "agentyard_api_key_revoke" "all" {
  for_each = toset(data.agentyard_api_keys.leaked.api_keys[*].id)

  service_account_id = data.agentyard_service_account.leaked.id
  key_id             = each.value
}
