# To remove a member, here with a sample address:
#   terraform apply -invoke=action.agentyard_member_remove.former \
#     -var email=avery@agentyard.example
variable "email" {
  type    = string
  default = null
}

action "agentyard_member_remove" "former" {
  config {
    email = var.email
  }
}
