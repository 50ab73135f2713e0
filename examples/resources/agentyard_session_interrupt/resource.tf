# Stops an agent. To stop it again, change the trigger.
resource "agentyard_session_interrupt" "stop" {
  session_id = "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"
  triggers   = { attempt = "1" }
}
