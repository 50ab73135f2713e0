terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

resource "agentyard_service_account" "builds" {
  name = "builds"
}

resource "agentyard_api_key" "scheduled" {
  service_account_id = agentyard_service_account.builds.id
  name               = "scheduled"
  expires_in         = "30d"

  rotation = {
    before_expiry = "7d"
  }
}

# The account's current keys.
data "agentyard_api_keys" "builds" {
  service_account_id = agentyard_service_account.builds.id
}

locals {
  expiries = [
    for key in data.agentyard_api_keys.builds.api_keys : key.expires_at
    if key.name == "scheduled" && !key.is_revoked
  ]
  soon = timeadd(plantimestamp(), "48h")
}

# Warns if the key is about to expire because nobody has applied.
check "scheduled_key_is_fresh" {
  assert {
    condition = length(local.expiries) == 0 || anytrue([
      for at in local.expiries : timecmp(at, local.soon) > 0
    ])
    error_message = "The key expires at ${join(", ", local.expiries)}."
  }
}
