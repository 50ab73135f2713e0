# The keys of every service account, without revoked ones.
list "agentyard_api_key" "live" {
  provider         = agentyard
  include_resource = true
}

# All keys of one service account, including revoked ones.
list "agentyard_api_key" "of_ci" {
  provider = agentyard

  config {
    service_account_id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"
    include_revoked    = true
  }
}
