variables {
  name         = "builders"
  size         = 2
  repositories = { "https://code.example/acme/api" = "make deps" }
  tasks        = { "builders-2" = "Run all tests." }
}

run "tasks" {
  assert {
    condition     = join(" ", keys(output.session_ids)) == "builders-2"
    error_message = "Not exactly the task has a session."
  }
  assert {
    condition     = agentyard_session.task["builders-2"].computer_id == output.computer_ids["builders-2"]
    error_message = "The session is on another computer."
  }
}

run "agent_answers" {
  variables {
    session_id = run.tasks.session_ids["builders-2"]
  }
  module {
    source = "./tests/answer"
  }
  assert {
    condition     = output.answer == "Run all tests."
    error_message = "The agent has not repeated its task."
  }
}
