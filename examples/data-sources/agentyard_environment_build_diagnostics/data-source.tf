data "agentyard_environments" "all" {}

# The latest build of every environment that has failed.
data "agentyard_environment_build_diagnostics" "failed" {
  for_each = toset([
    for e in data.agentyard_environments.all.environments :
    e.id if e.status == "failed"
  ])

  environment_id = each.value
}

output "why" {
  value = {
    for id, build in data.agentyard_environment_build_diagnostics.failed :
    id => build.withheld ? "The log is withheld." : build.excerpt
  }
}

# A specific build.
data "agentyard_environment_build_diagnostics" "of_build" {
  environment_id = "env_01hzy3v7k2m4n6p8q0r2s4t6v8"
  build_id       = "bld_01hzy3v7k2m4n6p8q0r2s4t6v9"
}
