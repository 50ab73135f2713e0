# Twelve identical computers, build-1 to build-12.
resource "agentyard_computer_fleet" "build" {
  name_prefix       = "build"
  quantity          = 12
  repos             = ["https://git.example/acme/app"]
  auto_install_deps = true

  timeouts {
    create = "90m"
  }

  lifecycle {
    # Fails the run if the service made fewer. The fleet is kept, and the next apply makes up the rest.
    postcondition {
      condition     = length(self.computers) == self.quantity
      error_message = "The fleet is short of computers; apply again."
    }
  }
}

# Computers of a named provider, without waiting until they are active.
resource "agentyard_computer_fleet" "spare" {
  name_prefix     = "spare"
  quantity        = 2
  provider_type   = "managed-b"
  wait_for_active = false
}

output "build_computer_ids" {
  value = { for computer in agentyard_computer_fleet.build.computers : computer.name => computer.id }
}
