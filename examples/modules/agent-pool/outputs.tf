output "api_key" {
  description = "Current key, as which a pipeline authenticates."
  value       = agentyard_api_key.this.key
  sensitive   = true
}

output "api_key_id" {
  description = "ID of the current key."
  value       = agentyard_api_key.this.id
}

output "next_rotation_at" {
  description = "When the key is due. Apply after this time and before the key expires."
  value       = agentyard_api_key.this.next_rotation_at
}

output "service_account_id" {
  description = "ID of the service account that owns the computers."
  value       = agentyard_service_account.this.id
}

output "environment_id" {
  description = "ID of the environment."
  value       = agentyard_environment.this.id
}

# The service also builds on its own. The next plan warns about a failed build.
output "environment_status" {
  description = "Status of the environment. It is failed if the latest build failed."
  value       = agentyard_environment.this.status
}

output "commits" {
  description = "Commits of the latest build, by repository."
  value       = { for r in agentyard_environment.this.latest_build.repositories : r.url => r.commit_sha }
}

output "computer_ids" {
  description = "IDs of the computers, by name."
  value       = { for name, computer in agentyard_computer_fleet.this.computers : name => computer.id }
}

output "session_ids" {
  description = "IDs of the tasks' sessions, by computer."
  value       = { for name, session in agentyard_session.task : name => session.id }
}

output "message_ids" {
  description = "IDs of the tasks' messages, by computer. Pass them to agentyard_session_answer."
  value       = { for name, message in agentyard_session_message.task : name => message.id }
}
