variables {
  name   = "builders"
  agents = ["ada", "grace"]
}

run "team" {
  assert {
    condition = alltrue([
      for computer in agentyard_computer.agent : computer.status == "active"
    ])
    error_message = "A computer is not active."
  }
  assert {
    condition     = agentyard_api_key.team.rotated_at == null
    error_message = "The key of a new team was rotated."
  }
}

run "agent_leaves" {
  variables {
    agents = ["ada"]
  }
  assert {
    condition     = join(" ", keys(agentyard_computer.agent)) == "ada"
    error_message = "The computer of a removed agent still exists."
  }
}

run "month_passes" {
  variables {
    advance = "30d"
  }
  module {
    source = "./tests/clock"
  }
}

run "key_is_rotated" {
  variables {
    agents = ["ada"]
  }
  assert {
    condition     = agentyard_api_key.team.rotated_at != null
    error_message = "The key was not rotated."
  }
  assert {
    condition     = agentyard_api_key.team.previous_key_id != null
    error_message = "The previous key was revoked too early."
  }
}

run "name_is_checked" {
  command = plan
  variables {
    agents = ["Ada Lovelace"]
  }
  expect_failures = [var.agents]
}
