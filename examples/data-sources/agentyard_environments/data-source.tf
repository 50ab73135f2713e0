data "agentyard_environments" "all" {}

output "not_ready" {
  value = [
    for e in data.agentyard_environments.all.environments :
    e.name if e.status != "ready"
  ]
}

output "default_environment" {
  value = one([
    for e in data.agentyard_environments.all.environments :
    e.name if e.id == data.agentyard_environments.all.default_environment_id
  ])
}
