# A managed computer with two repositories and their dependencies.
resource "agentyard_computer" "build" {
  name = "build-1"
  repos = [
    "https://git.example/acme/app",
    "https://git.example/acme/tools",
  ]
  auto_install_deps = true

  timeouts {
    create = "45m"
  }
}

# A registered machine.
resource "agentyard_computer" "workstation" {
  name          = "workstation"
  provider_type = "byom"
  host_id       = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
  remote_user   = "dev"
}

# A managed computer from a template, without waiting until it is active.
# If it fails, it is kept.
resource "agentyard_computer" "from_template" {
  name            = "from-template"
  wait_for_active = false
  replace_failed  = false

  source = {
    kind        = "template"
    template_id = "template-base" # A sample: use the ID of a template.
    is_listed   = true
  }
}

output "build_directories" {
  value = agentyard_computer.build.cloned_repo_directories
}
