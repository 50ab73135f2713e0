# Revokes a leaked key.
resource "agentyard_api_key_revoke" "leaked" {
  service_account_id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"
  key_id             = "key_01hzy3x9d4f6g8h0j2k4m6n8p0"
}
