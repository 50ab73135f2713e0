data "agentyard_sessions" "agent" {
  computer_id = agentyard_computer.agent.id
}

data "agentyard_session" "task" {
  id          = agentyard_session.task.id
  computer_id = agentyard_computer.agent.id
}

output "running" {
  value = [
    for s in data.agentyard_sessions.agent.sessions : s.id if s.status != "idle"
  ]
}

output "credits" {
  value = data.agentyard_session.task.service_credits
}
