action "agentyard_environment_build" "nightly" {
  config {
    environment_id = agentyard_environment.agents.id
  }
}

action "agentyard_environment_build_cancel" "stop" {
  config {
    environment_id = agentyard_environment.agents.id
  }
}
