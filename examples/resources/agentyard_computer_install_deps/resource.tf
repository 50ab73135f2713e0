resource "agentyard_computer" "build" {
  name              = "build-1"
  repos             = ["https://git.example/acme/app"]
  auto_install_deps = true
}

variable "toolchain" {
  description = "Version of the toolchain that the repositories need."
  type        = string
  default     = "1"
}

# Reinstalls the dependencies when the toolchain changes.
resource "agentyard_computer_install_deps" "build" {
  computer_id = agentyard_computer.build.id
  triggers    = { toolchain = var.toolchain }
}
