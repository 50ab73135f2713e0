# All members, to import them. Their roles stay as they are.
list "agentyard_member_invitation" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000
}
