resource "agentyard_computer" "build" {
  name = "build-1"
}

variable "release" {
  description = "The release to work on."
  type        = string
  default     = "1.0"
}

# Wakes the computer for each release.
resource "agentyard_computer_restart" "release" {
  computer_id = agentyard_computer.build.id
  triggers    = { release = var.release }
}
