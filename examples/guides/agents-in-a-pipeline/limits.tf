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

data "agentyard_session" "agent" {
  for_each = agentyard_session_message.task

  id = each.value.session_id

  # Read the credits after the work.
  depends_on = [agentyard_session_answer.agent]
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
