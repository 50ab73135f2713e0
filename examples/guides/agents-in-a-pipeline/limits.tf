# The owner of the pipeline's API key.
resource "agentyard_user_usage_limit" "pipeline" {
  email = "manager@agentyard.example"
  limit = 10000000
}

variable "budget" {
  description = "How much the agents can spend in a night, in credits."
  type        = number
  default     = 500000
}

locals {
  spent = sum(concat([0], [
    for s in data.agentyard_session.agent : coalesce(s.service_credits, 0)
  ]))
}

check "night_was_within_budget" {
  assert {
    condition     = local.spent <= var.budget
    error_message = "The agents spent ${local.spent} credits."
  }
}
