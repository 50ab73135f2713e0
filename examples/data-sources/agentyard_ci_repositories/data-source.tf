data "agentyard_ci_repositories" "acme" {
  owner = "acme"
}

output "not_writable" {
  value = [
    for repository in data.agentyard_ci_repositories.acme.repositories :
    repository.full_name if !coalesce(repository.service_app_writable, false)
  ]
}
