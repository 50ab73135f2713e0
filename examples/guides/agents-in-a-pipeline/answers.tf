data "agentyard_session_messages" "answer" {
  for_each = var.tasks

  session_id  = agentyard_session.agent[each.key].id
  roles       = ["assistant"]
  max_results = 1

  # A new answer is read after the task, in the same apply.
  depends_on = [terraform_data.task]
}

data "agentyard_session" "agent" {
  for_each = var.tasks

  id = agentyard_session.agent[each.key].id

  depends_on = [terraform_data.task]
}

output "answers" {
  description = "The last message of each agent."
  value = {
    for computer, last in data.agentyard_session_messages.answer :
    computer => one(last.messages[*].text)
  }
}

output "sessions" {
  description = "The session of each agent."
  value = {
    for computer, s in agentyard_session.agent : computer => s.id
  }
}

check "agents_have_answered" {
  assert {
    condition = alltrue([
      for computer, last in data.agentyard_session_messages.answer :
      one(last.messages[*].is_error) == false &&
      data.agentyard_session.agent[computer].status == "idle"
    ])
    error_message = "An agent is working, has failed, or has not answered."
  }
}
