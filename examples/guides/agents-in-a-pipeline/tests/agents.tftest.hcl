run "agents_answer" {
  assert {
    condition = alltrue([
      for computer, task in var.tasks : output.answers[computer] == task
    ])
    error_message = "An agent has not repeated its task."
  }
}

run "next_night" {
  plan_options {
    replace = [terraform_data.night]
  }
  assert {
    condition = alltrue([
      for computer, id in run.agents_answer.sessions :
      output.sessions[computer] != id
    ])
    error_message = "An agent still has the session of the first night."
  }
  assert {
    condition     = output.answers["agent-1"] == var.tasks["agent-1"]
    error_message = "The agent has not repeated its task in the new session."
  }
}
