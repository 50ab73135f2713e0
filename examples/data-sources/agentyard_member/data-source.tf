data "agentyard_member" "lead" {
  email = "avery@agentyard.example" # A sample.
}

output "lead_joined_at" {
  value = data.agentyard_member.lead.created_at
}
