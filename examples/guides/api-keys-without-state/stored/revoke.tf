variable "oldest_version" {
  description = "Lowest version that works. Raise it to revoke older keys."
  type        = number
  default     = 1
}

locals {
  # IDs of all versions, also of those that are revoked.
  versions = {
    for key in data.agentyard_api_keys.all.api_keys :
    key.id => tonumber(regex("^deploy-v([0-9]+)$", key.name)[0])
    if can(regex("^deploy-v([0-9]+)$", key.name))
  }
}

resource "agentyard_api_key_revoke" "old" {
  for_each = {
    for id, version in local.versions : id => version
    if version < min(var.oldest_version, var.key_version)
  }

  service_account_id = data.agentyard_service_account.robots.id
  key_id             = each.key
}
