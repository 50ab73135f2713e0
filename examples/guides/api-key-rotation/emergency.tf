variable "leaked_key_id" {
  description = "ID of the key to revoke. Set it only to invoke the action."
  type        = string
  default     = null
}

action "agentyard_api_key_revoke" "leaked" {
  config {
    service_account_id = agentyard_service_account.builds.id
    key_id             = var.leaked_key_id
  }
}
