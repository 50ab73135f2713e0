import {
  to = agentyard_user_usage_limit.avery
  identity = {
    email = "avery@agentyard.example"
  }
}
