# Each member who leaves is removed once.
resource "agentyard_member_remove" "leavers" {
  for_each = toset(["avery@agentyard.example"])

  email = each.key
}
