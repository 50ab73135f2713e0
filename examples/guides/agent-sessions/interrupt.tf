action "agentyard_session_interrupt" "task" {
  config {
    session_id = agentyard_session.task.id
  }
}
