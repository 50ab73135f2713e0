# Becomes the organization's default environment after its first build succeeds.
resource "agentyard_environment" "app" {
  name  = "app"
  scope = "organization"

  repositories = [
    {
      url    = "https://git.example/acme/app.git"
      script = "make deps"
    },
    {
      url = "https://git.example/acme/tools.git"
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

# Only for its owner, with a specific source, and without waiting for builds.
resource "agentyard_environment" "scratch" {
  name           = "scratch"
  scope          = "user"
  source_id      = "source-base" # A sample: use the ID of a source.
  wait_for_build = false

  repositories = [{
    url    = "https://git.example/acme/scratch.git"
    script = "make deps"
  }]
}

output "commits" {
  description = "Commits that the environment was built from."
  value = {
    for r in agentyard_environment.app.latest_build.repositories :
    r.name => r.commit_sha
  }
}
