# Does something outside Terraform, with the control API of the emulator.

terraform {
  required_version = ">= 1.6"
}

variable "request" {
  description = "Method, path, and body of the request."
  type        = list(string)
}

resource "terraform_data" "request" {
  triggers_replace = timestamp() # Each run sends its request.

  provisioner "local-exec" {
    command = "agentyard-emulator control ${join(" ", [for word in var.request : "'${word}'"])}"
  }
}
