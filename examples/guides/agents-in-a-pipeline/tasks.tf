resource "agentyard_session_message" "task" {
  for_each = var.tasks

  session_id = agentyard_session.agent[each.key].id
  text       = each.value
}
