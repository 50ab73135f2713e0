# All messages of a session.
data "agentyard_session_messages" "all" {
  session_id = "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"
}

# The agent's last message.
data "agentyard_session_messages" "last" {
  session_id  = "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"
  roles       = ["assistant"]
  max_results = 1
}

output "answer" {
  value = one(data.agentyard_session_messages.last.messages[*].text)
}

# The names of the tools that the agent used.
output "tools" {
  value = distinct(flatten([
    for m in data.agentyard_session_messages.all.messages : [
      for block in jsondecode(m.content_json) : block.name
      if block.type == "tool_use"
    ]
  ]))
}
