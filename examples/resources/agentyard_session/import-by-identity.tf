import {
  to = agentyard_session.review
  identity = {
    id          = "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"
    computer_id = "6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10"
  }
}
