data "agentyard_environments" "all" {}

locals {
  failed = {
    for e in data.agentyard_environments.all.environments : e.name => e.id
    if e.status == "failed" && e.scope == "organization"
  }
}

data "agentyard_environment_build_diagnostics" "failed" {
  for_each       = local.failed
  environment_id = each.value
}

output "failed_builds" {
  value = {
    for name, build in data.agentyard_environment_build_diagnostics.failed :
    name => build.excerpt
  }
}
