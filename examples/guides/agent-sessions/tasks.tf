variable "tasks" {
  type    = map(string) # The branch of each ticket.
  default = {}
}

resource "agentyard_session" "each" {
  for_each = var.tasks

  computer_id = agentyard_computer.agent.id
  cwd         = agentyard_computer.agent.cloned_repo_directories[0]

  session_settings = {
    interaction_mode = "auto"
    autonomy_level   = "medium"
    tags             = [{ name = "task", metadata = { ticket = each.key } }]

    worktree = {
      repo_root = agentyard_computer.agent.cloned_repo_directories[0]
      branch    = each.value
      lifecycle = "ephemeral"
    }
  }
}
