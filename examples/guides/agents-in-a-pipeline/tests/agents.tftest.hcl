run "agents_answer" {
  assert {
    condition = alltrue([
      for computer, task in var.tasks : output.answers[computer] == task
    ])
    error_message = "An agent has not repeated its task."
  }
}
