resource "agentyard_computer" "build" {
  name = "build-1"
}

# Manually: terraform apply -invoke=action.agentyard_computer_restart.build
action "agentyard_computer_restart" "build" {
  config {
    computer_id = agentyard_computer.build.id
  }
}

variable "release" {
  description = "The release to work on."
  type        = string
  default     = "1.0"
}

# Also wakes the computer for each release.
resource "terraform_data" "release" {
  input = var.release

  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.agentyard_computer_restart.build]
    }
  }
}
