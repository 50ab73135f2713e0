# Needs no emulator. A mocked fleet has no computers, so the pool gets its outputs here.

mock_provider "agentyard" {}

override_module {
  target = module.pool
  outputs = {
    computer_ids = { "builders-1" = "computer-1" }
  }
}

run "mocked" {
  module {
    source = "./tests/caller"
  }
  assert {
    condition     = output.computer_id == "computer-1"
    error_message = "The pool is not mocked."
  }
}
