resource "agentyard_computer" "build" {
  name              = "build-1"
  repos             = ["https://git.example/acme/app"]
  auto_install_deps = true
}

action "agentyard_computer_install_deps" "build" {
  config {
    computer_id = agentyard_computer.build.id
  }
}

variable "toolchain" {
  description = "Version of the toolchain that the repositories need."
  type        = string
  default     = "1"
}

# Reinstalls the dependencies when the toolchain changes.
resource "terraform_data" "toolchain" {
  input = var.toolchain

  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.agentyard_computer_install_deps.build]
    }
  }
}
