# Moves the emulator's clock, so that the tests can see later states.

terraform {
  required_version = ">= 1.6"
}

variable "advance" {
  description = "How far to move the clock, such as 30d."
  type        = string
}

locals {
  body = jsonencode({ advance = var.advance })
}

resource "terraform_data" "clock" {
  triggers_replace = timestamp() # Each run moves the clock again.

  provisioner "local-exec" {
    command = "agentyard-emulator control POST clock '${local.body}'"
  }
}
