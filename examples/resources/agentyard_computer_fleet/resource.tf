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
    # Fails the run if a computer is missing. The fleet is not tainted.
    postcondition {
      condition = alltrue([
        for c in values(self.computers) : c.status != "missing"
      ])
      error_message = "A computer of the fleet is missing. Apply again."
    }
  }
}

# Computers of a named provider, without waiting until they are active.
resource "agentyard_computer_fleet" "spare" {
  name_prefix     = "spare"
  quantity        = 2
  provider_type   = "managed-b" # A sample; see agentyard_computer_providers.
  wait_for_active = false
}

output "build_computer_ids" {
  value = {
    for name, computer in agentyard_computer_fleet.build.computers :
    name => computer.id
  }
}
