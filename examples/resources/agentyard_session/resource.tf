resource "agentyard_computer" "build" {
  name = "build-1"
}

# A session with its own worktree and branch. Settings are updated in place.
resource "agentyard_session" "review" {
  computer_id = agentyard_computer.build.id
  cwd         = "/srv/app"

  session_settings = {
    model            = "model-thinking" # A sample: use the ID of a model.
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

  # To replace the default prompt instead, use system_prompt.
  system_prompt_append = <<-EOT
    Review the open pull requests. Change no file.
  EOT
}

# A session with the organization's default settings.
resource "agentyard_session" "scratch" {
  computer_id = agentyard_computer.build.id
}

output "model" {
  description = "Model that the service chose."
  value       = agentyard_session.scratch.session_settings.model
}
