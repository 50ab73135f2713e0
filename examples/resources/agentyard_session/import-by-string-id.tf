import {
  to = agentyard_session.review
  id = "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"
}
