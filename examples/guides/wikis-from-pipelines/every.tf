data "agentyard_ci_repositories" "acme" {
  owner = "acme"
}

resource "agentyard_wiki_run" "monthly" {
  for_each = {
    for r in data.agentyard_ci_repositories.acme.repositories : r.full_name => r
    if coalesce(r.service_app_writable, false)
  }

  repo_url = each.value.url

  triggers = {
    month = formatdate("YYYY-MM", plantimestamp())
  }
}
