import {
  to = agentyard_environment.app
  identity = {
    id = "env_01hzy5b9n4q6r8s0t2v4w6x8y0"
  }
}
