resource "agentyard_environment" "next" {
  name  = "workspace-2"
  scope = "organization"

  repositories = [{
    url    = "https://git.example/acme/app"
    script = "make deps"
  }]
}

# Changes the default after the first build of the environment succeeds. If the
# build fails, the default does not change.
resource "agentyard_default_environment" "this" {
  environment_id = agentyard_environment.next.id
}
