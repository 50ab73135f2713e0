resource "agentyard_computer" "build" {
  name  = "build-1"
  repos = ["https://git.example/acme/app"]
}

# Manually: terraform apply -invoke=action.agentyard_computer_refresh.build
action "agentyard_computer_refresh" "build" {
  config {
    computer_id = agentyard_computer.build.id
  }
}

variable "credentials_version" {
  description = "Number to raise after a credential or secret has changed."
  type        = number
  default     = 1
}

resource "terraform_data" "credentials" {
  input = var.credentials_version

  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.agentyard_computer_refresh.build]
    }
  }
}
