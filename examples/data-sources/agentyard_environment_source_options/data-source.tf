data "agentyard_environment_source_options" "all" {}

locals {
  sources = flatten(
    data.agentyard_environment_source_options.all.providers[*].sources
  )
}

# Uses the first source that supports both repositories and setup scripts.
resource "agentyard_environment" "app" {
  name = "app"
  source_id = [
    for s in local.sources :
    s.id if s.supports_repositories && s.supports_setup_scripts
  ][0]

  repositories = [{
    url    = "https://git.example/acme/app"
    script = "make deps"
  }]
  setup_script = "apt-get update && apt-get install -y make"
}
