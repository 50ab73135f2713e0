resource "agentyard_environment" "retried" {
  name         = "retried"
  repositories = [{ url = "https://git.example/acme/app.git", script = "make" }]
}
