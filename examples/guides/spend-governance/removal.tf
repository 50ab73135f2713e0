variable "leaver" {
  description = "Email address of who leaves the organization. Only the action needs it, so every other run leaves it out."
  type        = string
  default     = null
}

action "agentyard_member_remove" "leaver" {
  config {
    email = var.leaver
  }
}
