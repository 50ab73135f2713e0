# The 28 days that ended yesterday.
data "agentyard_analytics_productivity" "recent" {
  last_days = 28
}

output "commits" {
  value = sum(concat(
    [0],
    data.agentyard_analytics_productivity.recent.data[*].git_commits,
  ))
}
