data "agentyard_environments" "all" {}

data "agentyard_environment_build_statuses" "all" {
  environment_ids = data.agentyard_environments.all.environments[*].id
}

output "not_ready" {
  value = {
    for b in data.agentyard_environment_build_statuses.all.builds :
    b.environment_id => b.latest_build.status if b.environment_status != "ready"
  }
}

# Environments that were never built.
output "without_build" {
  value = setsubtract(
    data.agentyard_environment_build_statuses.all.environment_ids,
    data.agentyard_environment_build_statuses.all.builds[*].environment_id,
  )
}
