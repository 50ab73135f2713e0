data "agentyard_environments" "all" {}

locals {
  failed = {
    for environment in data.agentyard_environments.all.environments : environment.name => environment.id
    if environment.status == "failed" && environment.scope == "organization"
  }
}

data "agentyard_environment_build_diagnostics" "failed" {
  for_each       = local.failed
  environment_id = each.value
}

output "failed_builds" {
  value = { for name, build in data.agentyard_environment_build_diagnostics.failed : name => build.excerpt }
}
