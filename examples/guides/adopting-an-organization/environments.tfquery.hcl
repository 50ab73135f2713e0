list "agentyard_environment" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000
}
