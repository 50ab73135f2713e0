# Moves the clock of the emulator that the tests run with, so that they see what happens later.

variable "advance" {
  description = "By how much, such as 30d."
  type        = string
}

resource "terraform_data" "clock" {
  triggers_replace = timestamp() # Each run moves it again.

  provisioner "local-exec" {
    command = "agentyard-emulator control POST clock '{\"advance\":\"${var.advance}\"}'"
  }
}
