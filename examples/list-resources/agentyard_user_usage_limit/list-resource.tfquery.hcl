# All members who have a limit of their own.
list "agentyard_user_usage_limit" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000
}
