resource "agentyard_session" "review" {
  computer_id = agentyard_computer.agent.id

  lifecycle {
    action_trigger {
      events  = [before_destroy]
      actions = [action.agentyard_session_interrupt.review]
    }
  }
}

action "agentyard_session_interrupt" "review" {
  config {
    session_id = caller.id
  }
}
