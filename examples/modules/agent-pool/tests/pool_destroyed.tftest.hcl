# Runs after pool.tftest.hcl, whose end destroys the pool.

run "destroy" {
  module {
    source = "./tests/organization"
  }
  assert {
    condition     = length(data.agentyard_service_accounts.all.service_accounts) == 0
    error_message = "The service account still exists."
  }
  assert {
    condition     = length(data.agentyard_computers.all.computers) == 0
    error_message = "A computer still exists."
  }
  assert {
    condition     = length(data.agentyard_environments.all.environments) == 0
    error_message = "The environment still exists."
  }
  assert {
    condition     = alltrue([for user in data.agentyard_usage_limits.all.user_limits : user.limit == null])
    error_message = "The member still has a limit."
  }
}
