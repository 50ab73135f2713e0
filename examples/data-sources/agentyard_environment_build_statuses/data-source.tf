data "agentyard_environment_build_statuses" "services" {
  environment_ids = [
    "env_01hzy3v7k2m4n6p8q0r2s4t6v8",
    "env_01hzy3v7k2m4n6p8q0r2s4t6v9",
  ]
}

output "not_ready" {
  value = {
    for b in data.agentyard_environment_build_statuses.services.builds :
    b.environment_id => b.latest_build.status if b.environment_status != "ready"
  }
}

# Environments that do not exist, are not visible, or were never built.
output "without_build" {
  value = setsubtract(
    data.agentyard_environment_build_statuses.services.environment_ids,
    data.agentyard_environment_build_statuses.services.builds[*].environment_id,
  )
}
