resource "agentyard_computer" "build" {
  name          = "build"
  provider_type = "managed-a" # A sample; see agentyard_computer_providers.
}

resource "agentyard_session" "upgrade" {
  computer_id = agentyard_computer.build.id
}

variable "task" {
  description = "What the agent does."
  type        = string
  default     = "Upgrade the dependencies, and run all tests."
}

# If the action fails, the next apply does not repeat it. To send the message:
# terraform apply -invoke=action.agentyard_session_message.upgrade
action "agentyard_session_message" "upgrade" {
  config {
    session_id = agentyard_session.upgrade.id
    text       = var.task
  }
}

# The first apply creates the computer and the session, and gives the agent its
# task. A changed task is a new message.
resource "terraform_data" "task" {
  input = {
    session = agentyard_session.upgrade.id
    text    = var.task
  }

  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.agentyard_session_message.upgrade]
    }
  }
}
