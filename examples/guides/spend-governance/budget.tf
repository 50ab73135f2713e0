variable "daily_budget" {
  description = "What the organization may spend in a day, in credits."
  type        = number
  default     = 500000000
}

locals {
  yesterday = formatdate("YYYY-MM-DD", timeadd(plantimestamp(), "-24h"))
}

data "agentyard_analytics_tokens" "yesterday" {
  start_date = local.yesterday
  end_date   = local.yesterday
  group_by   = "model" # A sum needs no rows of single users.
}

locals {
  # A day on which nobody worked has no row.
  spent_yesterday = sum(concat([0], data.agentyard_analytics_tokens.yesterday.data[*].billable_tokens))
}

check "yesterday_was_within_budget" {
  assert {
    condition     = local.spent_yesterday <= var.daily_budget
    error_message = "On ${local.yesterday} the organization has spent ${local.spent_yesterday} credits. The budget is ${var.daily_budget}."
  }
}
