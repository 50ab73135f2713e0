resource "agentyard_computer" "build" {
  name = "build"
}

resource "agentyard_session" "upgrade" {
  computer_id = agentyard_computer.build.id
}

# Changing the text or a trigger sends a new message.
resource "agentyard_session_message" "upgrade" {
  session_id = agentyard_session.upgrade.id
  text       = "Upgrade the dependencies, and run all tests."
}

output "message" {
  value = agentyard_session_message.upgrade.id
}
