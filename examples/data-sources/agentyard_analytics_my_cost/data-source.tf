# The 28 days that ended yesterday.
data "agentyard_analytics_my_cost" "daily" {
  query_key = "headline_daily"
  last_days = 28
}

# A fixed range.
data "agentyard_analytics_my_cost" "by_model" {
  query_key  = "by_model"
  start_date = "2026-02-01"
  end_date   = "2026-02-28"
}

output "credits" {
  value = sum(concat([0], data.agentyard_analytics_my_cost.daily.data[*].fsc))
}

# The rows of every query, as JSON.
output "by_model" {
  value = jsondecode(data.agentyard_analytics_my_cost.by_model.data_json)
}
