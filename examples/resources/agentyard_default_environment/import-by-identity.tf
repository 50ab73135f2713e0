import {
  to = agentyard_default_environment.this
  identity = {
    id = "organization"
  }
}
