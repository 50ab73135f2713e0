data "agentyard_wiki_run_history" "api" {
  repo_url = "https://code.example/acme/api"
}

data "agentyard_wiki_search" "deployment" {
  wiki_run_id = agentyard_wiki_run.each["https://code.example/acme/api"].id
  q           = "deployment"
}

output "runs" {
  value = [for run in data.agentyard_wiki_run_history.api.wiki_runs : "${run.created_at} ${run.commit_hash}"]
}

output "deployment" {
  value = [for page in data.agentyard_wiki_search.deployment.results : page.path]
}
