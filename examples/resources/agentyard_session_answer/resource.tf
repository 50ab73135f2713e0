resource "agentyard_computer" "build" {
  name = "build"
}

resource "agentyard_session" "upgrade" {
  computer_id = agentyard_computer.build.id
}

resource "agentyard_session_message" "upgrade" {
  session_id = agentyard_session.upgrade.id
  text       = "Upgrade the dependencies, and run all tests."
}

# A new message gets its answer in the same apply.
resource "agentyard_session_answer" "upgrade" {
  session_id = agentyard_session_message.upgrade.session_id
  message_id = agentyard_session_message.upgrade.id

  timeouts {
    create = "2h"
  }

  lifecycle {
    postcondition {
      condition     = self.is_error == false
      error_message = "Failed or unclear: ${coalesce(self.text, "no answer")}"
    }
  }
}

output "answer" {
  value = agentyard_session_answer.upgrade.text
}
