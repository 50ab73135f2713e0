# The environments of the organization, and those of the key's owner.
list "agentyard_environment" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000
}

# What a service account sees.
list "agentyard_environment" "of_ci" {
  provider = agentyard

  config {
    service_account_id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"
  }
}
