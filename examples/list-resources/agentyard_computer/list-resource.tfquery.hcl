# All computers of the key's owner, including unlisted ones.
list "agentyard_computer" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000

  config {
    include_unlisted = true
  }
}

# The computers of one service account.
list "agentyard_computer" "of_ci" {
  provider = agentyard

  config {
    service_account_id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"
  }
}
