import {
  to = agentyard_default_environment.this
  id = "organization"
}
