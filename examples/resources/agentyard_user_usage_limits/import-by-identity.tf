import {
  to = agentyard_user_usage_limits.all
  identity = {
    id = "organization"
  }
}
