resource "agentyard_computer" "build" {
  name  = "build-1"
  repos = ["https://git.example/acme/app"]
}

variable "credentials_version" {
  description = "Number to raise after a credential or secret has changed."
  type        = number
  default     = 1
}

resource "agentyard_computer_refresh" "build" {
  computer_id = agentyard_computer.build.id
  triggers    = { credentials = var.credentials_version }
}
