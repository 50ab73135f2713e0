import {
  to = agentyard_service_account.builds
  identity = {
    id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"
  }
}
