variables {
  name         = "builders"
  size         = 2
  members      = ["manager@agentyard.example"]
  repositories = { "https://code.example/acme/api" = "make deps" }
}

run "plan" {
  command = plan
  assert {
    condition     = join(" ", keys(output.computer_ids)) == "builders-1 builders-2"
    error_message = "The plan does not name the computers."
  }
}

run "create" {
  assert {
    condition     = alltrue([for computer in agentyard_computer_fleet.this.computers : computer.status == "active"])
    error_message = "A computer is not active."
  }
  assert {
    condition     = agentyard_environment.this.status == "ready" && length(output.commits) == 1
    error_message = "The environment is not built."
  }
  assert {
    condition     = agentyard_user_usage_limit.member["manager@agentyard.example"].limit == 10000000
    error_message = "The member has no limit."
  }
  assert {
    condition     = output.api_key != null
    error_message = "There is no key."
  }
}

run "remember_computers" {
  variables {
    computer_ids = run.create.computer_ids
  }
  module {
    source = "./tests/kept"
  }
  assert {
    condition     = output.names == "builders-1 builders-2"
    error_message = "The computers are not remembered."
  }
}

run "grow" {
  variables {
    size = 3
  }
  assert {
    condition     = join(" ", keys(output.computer_ids)) == "builders-1 builders-2 builders-3"
    error_message = "The pool did not grow to three computers."
  }
}

run "grow_keeps_computers" {
  variables {
    computer_ids = run.grow.computer_ids
  }
  module {
    source = "./tests/kept"
  }
  assert {
    condition     = output.names == "builders-1 builders-2"
    error_message = "A computer was replaced."
  }
}

run "month_passes" {
  variables {
    request = ["POST", "clock", "{\"advance\":\"30d\"}"]
  }
  module {
    source = "./tests/control"
  }
}

run "rotate" {
  variables {
    size = 3
  }
  assert {
    condition     = agentyard_api_key.this.rotated_at != null
    error_message = "The key was not rotated."
  }
  assert {
    condition     = agentyard_api_key.this.previous_key_id != null
    error_message = "The previous key was revoked before the end of its grace period."
  }
}

run "next_build_will_fail" {
  variables {
    request = ["POST", "build-failures", "{\"name\":\"builders\",\"category\":\"validation\",\"reason\":\"make: exit 2\"}"]
  }
  module {
    source = "./tests/control"
  }
}

run "service_builds_again" {
  variables {
    request = ["POST", "environments/${run.rotate.environment_id}/build"]
  }
  module {
    source = "./tests/control"
  }
}

run "build_ends" {
  variables {
    request = ["POST", "clock", "{\"advance\":\"1h\"}"]
  }
  module {
    source = "./tests/control"
  }
}

run "failed_build" {
  plan_options {
    mode = refresh-only
  }
  variables {
    size = 3
  }
  assert {
    condition     = output.environment_status == "failed"
    error_message = "The failed build is not reported."
  }
}

run "next_apply_builds_again" {
  variables {
    size = 3
  }
  assert {
    condition     = agentyard_environment.this.status == "ready"
    error_message = "The failed environment was not built again."
  }
}

run "computer_disappears" {
  variables {
    request = ["DELETE", "computers/${run.next_apply_builds_again.computer_ids["builders-2"]}"]
  }
  module {
    source = "./tests/control"
  }
}

run "lost_computer" {
  variables {
    size = 3
  }
  assert {
    condition     = agentyard_computer_fleet.this.computers["builders-2"].status == "active"
    error_message = "The lost computer was not replaced."
  }
}

run "other_computers_are_kept" {
  variables {
    computer_ids = run.lost_computer.computer_ids
  }
  module {
    source = "./tests/kept"
  }
  assert {
    condition     = output.names == "builders-1"
    error_message = "Not exactly the lost computer was replaced."
  }
}

run "policy" {
  command = plan
  variables {
    name         = "Builders!"
    size         = 51
    repositories = { "https://user:secret@code.example/acme/api" = "" }
  }
  expect_failures = [var.name, var.size, var.repositories]
}
