# All sessions of the key's owner, with their settings.
list "agentyard_session" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000
}

# The sessions on one computer.
list "agentyard_session" "on_build" {
  provider = agentyard

  config {
    computer_id = "6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10"
  }
}
