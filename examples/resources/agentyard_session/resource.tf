resource "agentyard_computer" "build" {
  name  = "build-1"
  repos = ["https://git.example/acme/app"]
}

# A session with a worktree and a branch. Most settings are updated in place.
resource "agentyard_session" "review" {
  computer_id = agentyard_computer.build.id
  cwd         = agentyard_computer.build.cloned_repo_directories[0]

  session_settings = {
    model            = "model-thinking" # A sample: use the ID of a model.
    reasoning_effort = "high"
    interaction_mode = "auto"
    autonomy_level   = "low"

    disabled_tool_ids   = ["web-search"] # Replace with IDs of your tools.
    tool_execution_mode = "direct_and_script"

    tags = [
      { name = "nightly" },
      { name = "team", metadata = { owner = "platform" } },
    ]

    worktree = {
      repo_root = agentyard_computer.build.cloned_repo_directories[0]
      branch    = "review"
      lifecycle = "ephemeral"
    }
  }

  # To replace the default prompt instead, use system_prompt.
  system_prompt_append = <<-EOT
    Review the open pull requests. Change no file.
  EOT
}

# Gives the agent a task.
resource "agentyard_session_message" "task" {
  session_id = agentyard_session.review.id
  text       = "Review the pull requests of this week."
}

resource "agentyard_session_answer" "task" {
  session_id = agentyard_session_message.task.session_id
  message_id = agentyard_session_message.task.id
}

output "answer" {
  value = agentyard_session_answer.task.text
}

# A session with the default settings.
resource "agentyard_session" "scratch" {
  computer_id = agentyard_computer.build.id
}

output "model" {
  description = "Model that the service chose."
  value       = agentyard_session.scratch.session_settings.model
}
