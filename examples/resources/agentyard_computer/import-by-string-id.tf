import {
  to = agentyard_computer.build
  id = "6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10"
}
