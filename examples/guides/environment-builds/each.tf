resource "agentyard_environment" "team" {
  for_each = toset(["red"])

  name  = each.key
  scope = "organization"

  repositories = [
    {
      url    = "https://git.example/acme/app.git"
      script = "make dependencies"
    },
  ]

  lifecycle {
    create_before_destroy = true
  }
}
