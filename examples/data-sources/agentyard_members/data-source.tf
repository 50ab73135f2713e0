data "agentyard_members" "all" {}

output "never_signed_in" {
  value = [
    for member in data.agentyard_members.all.members :
    member.email if member.last_sign_in_at == null
  ]
}
