# To remove a member:
#   terraform apply -invoke=action.agentyard_member_remove.leaver \
#     -var leaver=avery@agentyard.example
variable "leaver" {
  type    = string
  default = null
}

action "agentyard_member_remove" "leaver" {
  config {
    email = var.leaver
  }
}
