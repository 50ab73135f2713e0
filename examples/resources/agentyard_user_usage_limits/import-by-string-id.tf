import {
  to = agentyard_user_usage_limits.all
  id = "organization"
}
