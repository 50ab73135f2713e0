data "agentyard_service_account" "ci" {
  name = "ci"
}

data "agentyard_api_keys" "ci" {
  service_account_id = data.agentyard_service_account.ci.id
}

# Live keys that never expire.
output "keys_without_expiry" {
  value = [
    for key in data.agentyard_api_keys.ci.api_keys :
    key.name if !key.is_revoked && key.expires_at == null
  ]
}
