resource "agentyard_user_usage_limit" "avery" {
  email = "avery@agentyard.example" # A sample.
  limit = 20000000
}

# The same limit for several members.
resource "agentyard_user_usage_limit" "research" {
  for_each = toset(["blake@agentyard.example", "casey@agentyard.example"])

  email = each.key
  limit = 50000000
}
