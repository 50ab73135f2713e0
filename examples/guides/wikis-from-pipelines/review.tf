locals {
  api = "https://code.example/acme/api"
}

data "agentyard_wiki_run_history" "api" {
  repo_url = local.api

  depends_on = [agentyard_wiki_run.each, agentyard_wiki_run.monthly]
}

data "agentyard_wiki_search" "deployment" {
  wiki_run_id = agentyard_wiki_run.each[local.api].id
  q           = "deployment"
}

output "newest" {
  value = "${data.agentyard_wiki_run_history.api.wiki_runs[0].created_at} ${data.agentyard_wiki_run_history.api.wiki_runs[0].commit_hash}"
}

output "of_others" {
  value = [for run in data.agentyard_wiki_run_history.api.wiki_runs : run.id if run.owner_user_id != agentyard_wiki_run.each[local.api].owner_user_id]
}

output "deployment" {
  value = [for page in data.agentyard_wiki_search.deployment.results : page.path]
}
