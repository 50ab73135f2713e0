resource "agentyard_session_answer" "agent" {
  for_each = agentyard_session_message.task

  session_id = each.value.session_id
  message_id = each.value.id

  timeouts {
    create = "2h"
  }
}

output "answers" {
  description = "The answer of each agent."
  value = {
    for computer, answer in agentyard_session_answer.agent :
    computer => answer.text
  }
}

output "sessions" {
  description = "The session of each agent."
  value = {
    for computer, s in agentyard_session.agent : computer => s.id
  }
}

check "agents_have_not_failed" {
  assert {
    condition = alltrue([
      for answer in agentyard_session_answer.agent : answer.is_error == false
    ])
    error_message = "An agent has failed, or its answer is unclear."
  }
}
