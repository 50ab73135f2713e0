# Applies to every user without their own limit.
resource "agentyard_global_usage_limit" "this" {
  limit = 10000000
}
