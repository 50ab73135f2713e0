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
  scheduled_expiries = [for key in data.agentyard_api_keys.builds.api_keys : key.expires_at if key.name == "scheduled" && !key.is_revoked]
}

# Warns if the key is about to expire because nobody has applied.
check "scheduled_key_is_fresh" {
  assert {
    condition     = length(local.scheduled_expiries) == 0 || anytrue([for at in local.scheduled_expiries : timecmp(at, timeadd(plantimestamp(), "48h")) > 0])
    error_message = "The key expires at ${join(", ", local.scheduled_expiries)}. Run terraform apply."
  }
}
