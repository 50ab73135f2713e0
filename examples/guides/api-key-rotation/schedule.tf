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

# Fails loudly if nobody has applied for so long that the key is about to expire.
check "scheduled_key_is_fresh" {
  assert {
    condition     = timecmp(agentyard_api_key.scheduled.expires_at, timeadd(timestamp(), "48h")) > 0
    error_message = "The key expires at ${agentyard_api_key.scheduled.expires_at}. Run terraform apply."
  }
}
