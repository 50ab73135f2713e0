list "agentyard_computer" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000

  config {
    include_unlisted = true
  }
}
