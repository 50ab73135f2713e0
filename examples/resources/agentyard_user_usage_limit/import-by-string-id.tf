import {
  to = agentyard_user_usage_limit.avery
  id = "avery@agentyard.example"
}
