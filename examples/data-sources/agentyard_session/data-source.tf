data "agentyard_session" "review" {
  id = "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"
}

# The credits that the session and its subagents have used.
output "credits" {
  value = data.agentyard_session.review.service_credits
}

output "model" {
  value = try(data.agentyard_session.review.session_settings.model, null)
}
