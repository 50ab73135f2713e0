terraform {
  required_version = ">= 1.11"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

# The service account that the key authenticates as.
data "agentyard_service_account" "robots" {
  name = "robots"
}

variable "key_version" {
  description = "Raise it to create and store a new key."
  type        = number
  default     = 1
}

data "agentyard_api_keys" "all" {
  service_account_id = data.agentyard_service_account.robots.id
}

locals {
  name = "deploy-v${var.key_version}"
  # A name is used once: without a new version, nothing stores a new key.
  is_used = contains(data.agentyard_api_keys.all.api_keys[*].name, local.name)
}

ephemeral "agentyard_api_key" "deploy" {
  service_account_id = data.agentyard_service_account.robots.id
  name               = local.name
  keep               = terraform.applying && !local.is_used
}
