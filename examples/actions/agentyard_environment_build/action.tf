resource "agentyard_environment" "workspace" {
  name  = "workspace"
  scope = "organization"

  repositories = [{
    url    = "https://git.example/acme/app"
    script = "make deps"
  }]
}

# To invoke it:
#   terraform apply -invoke=action.agentyard_environment_build.workspace
action "agentyard_environment_build" "workspace" {
  config {
    environment_id = agentyard_environment.workspace.id

    timeouts {
      invoke = "90m"
    }
  }
}

variable "toolchain" {
  description = "Version of the toolchain that the scripts install."
  type        = string
  default     = "1"
}

# Rebuilds when the toolchain changes, and fails the apply if the build fails.
resource "terraform_data" "toolchain" {
  input = var.toolchain

  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.agentyard_environment_build.workspace]
    }
  }
}
