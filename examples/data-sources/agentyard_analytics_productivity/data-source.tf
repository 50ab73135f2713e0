data "agentyard_analytics_productivity" "february" {
  start_date = "2026-02-01"
  end_date   = "2026-02-28"
}

output "commits" {
  value = sum(concat(
    [0],
    data.agentyard_analytics_productivity.february.data[*].git_commits,
  ))
}
