# The organization's environments, and those of the API key's owner.
list "agentyard_environment" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000
}

# The environments that a service account can see.
list "agentyard_environment" "of_ci" {
  provider = agentyard

  config {
    service_account_id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"
  }
}
