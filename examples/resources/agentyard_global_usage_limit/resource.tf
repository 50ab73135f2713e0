# Applies to every member without a limit of their own. In credits.
resource "agentyard_global_usage_limit" "this" {
  limit = 10000000
}
