variable "toolchain" {
  description = "Version of the toolchain that the scripts install."
  type        = string
  default     = "1"
}

# Rebuilds when the toolchain changes, and fails the apply if the build fails.
resource "agentyard_environment_build" "workspace" {
  environment_id = "env_01hzy3v7k2m4n6p8q0r2s4t6v8"
  triggers       = { toolchain = var.toolchain }

  timeouts {
    create = "90m"
  }
}
