resource "agentyard_computer" "build" {
  name = "build-1"
}

# A session that works on a branch of its own. A change of its settings is made in place.
resource "agentyard_session" "review" {
  computer_id = agentyard_computer.build.id
  cwd         = "/srv/app"

  session_settings = {
    model            = "model-thinking"
    reasoning_effort = "high"
    interaction_mode = "auto"
    autonomy_level   = "low"

    disabled_tool_ids   = ["web-search"]
    tool_execution_mode = "direct_and_script"

    tags = [
      { name = "nightly" },
      { name = "team", metadata = { owner = "platform" } },
    ]

    worktree = {
      repo_root = "/srv/app"
      branch    = "review"
      lifecycle = "ephemeral"
    }
  }

  # Added to the agent's usual prompt; system_prompt takes its place instead.
  system_prompt_append = <<-EOT
    Review the open pull requests. Change no file.
  EOT
}

# A session as the organization's settings have it.
resource "agentyard_session" "scratch" {
  computer_id = agentyard_computer.build.id
}

output "model" {
  description = "The model that the service chose."
  value       = agentyard_session.scratch.session_settings.model
}
