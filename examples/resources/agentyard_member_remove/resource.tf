# Removes each of these members once. The address is a sample.
resource "agentyard_member_remove" "former" {
  for_each = toset(["avery@agentyard.example"])

  email = each.key
}
