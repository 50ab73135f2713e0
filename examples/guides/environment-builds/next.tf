resource "agentyard_environment" "next" {
  name  = "agents-next"
  scope = "organization"

  repositories = [
    {
      url    = "https://git.example/acme/monorepo.git"
      script = "make dependencies"
    },
  ]
}
