import {
  to = agentyard_computer_fleet.build
  id = "build"
}
