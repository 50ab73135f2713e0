import {
  to = agentyard_computer_fleet.build
  identity = {
    name_prefix = "build"
  }
}
