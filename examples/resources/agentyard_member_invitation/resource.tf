resource "agentyard_member_invitation" "devon" {
  email = "devon@agentyard.example" # A sample.
  role  = "manager"
}

# Several members with the default role. To remove a member from the
# organization, remove the address.
resource "agentyard_member_invitation" "team" {
  for_each = toset(["emery@agentyard.example", "finley@agentyard.example"])

  email             = each.key
  remove_on_destroy = true
}
