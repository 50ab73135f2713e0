resource "agentyard_environment" "next" {
  name  = "workspace-2"
  scope = "organization"

  repositories = [{
    url    = "https://git.example/acme/app"
    script = "make deps"
  }]
}

# The default moves to the environment once its first build has succeeded. Until then, and if the build fails,
# everybody keeps working in the default that there was.
resource "agentyard_default_environment" "this" {
  environment_id = agentyard_environment.next.id
}
