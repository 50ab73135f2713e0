# What everybody in the organization starts in by default, once its first build has succeeded. The apply ends with the
# build: with an error that says why, if it fails.
resource "agentyard_environment" "app" {
  name  = "app"
  scope = "organization"

  repositories = [
    {
      url    = "https://git.example/acme/app.git"
      script = "make deps"
    },
    {
      url    = "https://git.example/acme/tools.git"
      script = "" # Nothing to set up.
    },
  ]

  setup_script = <<-EOT
    apt-get update
    apt-get install -y make
  EOT

  make_organization_default = true

  timeouts {
    create = "30m"
    update = "30m"
  }
}

# One's own, from a certain source, without waiting for its builds.
resource "agentyard_environment" "scratch" {
  name           = "scratch"
  scope          = "user"
  source_id      = "source-base"
  wait_for_build = false

  repositories = [{
    url    = "https://git.example/acme/scratch.git"
    script = "make deps"
  }]
}

output "commits" {
  description = "What the environment was built from."
  value       = { for r in agentyard_environment.app.latest_build.repositories : r.name => r.commit_sha }
}
