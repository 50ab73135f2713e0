variable "leaver" {
  description = "Email address of the member. Set it only to invoke the action."
  type        = string
  default     = null
}

action "agentyard_member_remove" "leaver" {
  config {
    email = var.leaver
  }
}
