terraform {
  required_version = ">= 1.16"
}

action "agentyard_session_message" "task" {
  for_each = var.tasks

  config {
    session_id    = agentyard_session.agent[each.key].id
    text          = each.value
    wait_for_idle = true

    timeouts {
      invoke = "2h"
    }
  }
}

# A new session invokes the action.
resource "terraform_data" "task" {
  for_each = var.tasks

  triggers_replace = agentyard_session.agent[each.key].id

  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.agentyard_session_message.task[each.key]]
    }
  }
}

action "agentyard_session_interrupt" "agent" {
  for_each = var.tasks

  config {
    session_id = agentyard_session.agent[each.key].id
  }
}
