resource "agentyard_computer" "build" {
  name = "build-1"
}

data "agentyard_computer_metrics" "build" {
  computer_id = agentyard_computer.build.id
  start       = "2026-03-01T12:00:00Z"
}

# Null if there are no samples.
output "highest_cpu_usage" {
  value = try(
    max(data.agentyard_computer_metrics.build.samples[*].cpu_used_pct...),
    null,
  )
}
