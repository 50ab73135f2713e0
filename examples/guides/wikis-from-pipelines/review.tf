locals {
  api     = "https://code.example/acme/api"
  history = data.agentyard_wiki_run_history.api.wiki_runs
  ours    = agentyard_wiki_run.each[local.api]
}

data "agentyard_wiki_run_history" "api" {
  repo_url = local.api

  depends_on = [agentyard_wiki_run.each, agentyard_wiki_run.monthly]
}

data "agentyard_wiki_search" "deployment" {
  wiki_run_id = local.ours.id
  query       = "deployment"
}

output "newest" {
  value = "${local.history[0].created_at} ${local.history[0].commit_hash}"
}

output "of_others" {
  value = [
    for run in local.history : run.id
    if run.owner_user_id != local.ours.owner_user_id
  ]
}

output "deployment" {
  value = data.agentyard_wiki_search.deployment.results[*].path
}
