variable "daily_budget" {
  description = "How much the organization can spend in a day, in credits."
  type        = number
  default     = 500000000
}

data "agentyard_analytics_tokens" "yesterday" {
  last_days = 1
  group_by  = "model" # The sum does not need the rows of each user.
}

locals {
  yesterday = data.agentyard_analytics_tokens.yesterday.end_date
  # A day without activity may have no row.
  spent = sum(concat(
    [0], data.agentyard_analytics_tokens.yesterday.data[*].billable_tokens
  ))
}

check "yesterday_was_within_budget" {
  assert {
    condition     = local.spent <= var.daily_budget
    error_message = <<-EOT
      On ${local.yesterday} the organization spent ${local.spent} credits.
      The budget is ${var.daily_budget}.
    EOT
  }
}
