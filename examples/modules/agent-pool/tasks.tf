# Sends each task to its session. OpenTofu reads tasks.tofu instead.

terraform {
  required_version = ">= 1.14"
}

action "agentyard_session_message" "task" {
  for_each = var.tasks

  config {
    session_id = agentyard_session.task[each.key].id
    text       = each.value
  }
}

# A new session or a changed task invokes the action.
resource "terraform_data" "task" {
  for_each = var.tasks

  triggers_replace = [agentyard_session.task[each.key].id, each.value]

  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.agentyard_session_message.task[each.key]]
    }
  }
}
