resource "agentyard_computer" "build" {
  name = "build-1"
}

# Before a break:
#   terraform apply -invoke=action.agentyard_computer_activity.build
action "agentyard_computer_activity" "build" {
  config {
    computer_id = agentyard_computer.build.id
  }
}
