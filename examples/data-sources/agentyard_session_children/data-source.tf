data "agentyard_session_children" "subagents" {
  session_id = "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"
}

output "busy_subagents" {
  value = [
    for s in data.agentyard_session_children.subagents.sessions : s.id
    if s.status != "idle"
  ]
}
