resource "agentyard_computer" "build" {
  name = "build-1"
}

variable "release" {
  description = "The release to work on."
  type        = string
  default     = "1.0"
}

# Advances the inactivity clock at the start of each release.
resource "agentyard_computer_activity" "release" {
  computer_id = agentyard_computer.build.id
  triggers    = { release = var.release }
}
