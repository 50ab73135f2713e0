data "agentyard_environment_build_statuses" "of_services" {
  environment_ids = ["env_01hzy3v7k2m4n6p8q0r2s4t6v8", "env_01hzy3v7k2m4n6p8q0r2s4t6v9"]
}

output "not_ready" {
  value = {
    for b in data.agentyard_environment_build_statuses.of_services.builds : b.environment_id => b.latest_build.status
    if b.environment_status != "ready"
  }
}

# What does not exist, is not visible or was never built.
output "without_build" {
  value = setsubtract(
    data.agentyard_environment_build_statuses.of_services.environment_ids,
    data.agentyard_environment_build_statuses.of_services.builds[*].environment_id,
  )
}
