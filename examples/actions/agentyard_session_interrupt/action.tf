# To stop an agent:
#   terraform apply -invoke=action.agentyard_session_interrupt.stop \
#     -var session=7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11
variable "session" {
  description = "ID of the session to interrupt."
  type        = string
  default     = null
}

action "agentyard_session_interrupt" "stop" {
  config {
    session_id = var.session
  }
}
