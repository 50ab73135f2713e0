# How much everybody may spend who has no limit of their own.
resource "agentyard_global_usage_limit" "this" {
  limit = 10000000
}
