variable "computer_id" {
  description = "ID of an active computer."
  type        = string
}

resource "agentyard_session" "upgrade" {
  computer_id = var.computer_id
}

resource "agentyard_session_message" "upgrade" {
  session_id = agentyard_session.upgrade.id
  text       = "Upgrade the dependencies, and run all tests."
}

# A new message gets its answer in the same apply.
data "agentyard_session_answer" "upgrade" {
  session_id = agentyard_session_message.upgrade.session_id
  message_id = agentyard_session_message.upgrade.id

  timeouts {
    read = "2h"
  }

  lifecycle {
    postcondition {
      condition     = !self.is_error
      error_message = "The agent failed: ${coalesce(self.text, "no text")}"
    }
  }
}

output "answer" {
  value = data.agentyard_session_answer.upgrade.text
}
