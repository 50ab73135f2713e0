import {
  to = agentyard_global_usage_limit.this
  identity = {
    id = "organization"
  }
}
