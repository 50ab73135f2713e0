# The 28 days that ended yesterday.
data "agentyard_analytics_tokens" "recent" {
  last_days = 28
}

# The same days, with a row for each model.
data "agentyard_analytics_tokens" "by_model" {
  last_days = 28
  group_by  = "model"
}

locals {
  credits_by_model = {
    for row in data.agentyard_analytics_tokens.by_model.data :
    row.group_key => row.billable_tokens...
  }
}

output "credits" {
  value = sum(concat(
    [0],
    data.agentyard_analytics_tokens.recent.data[*].billable_tokens,
  ))
}

output "credits_by_model" {
  value = { for model, all in local.credits_by_model : model => sum(all) }
}
