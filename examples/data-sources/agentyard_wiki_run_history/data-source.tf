data "agentyard_wiki_run_history" "api" {
  repo_url = "https://code.example/acme/api"
}

output "described_commits" {
  description = "What there is a wiki of, the newest first."
  value       = data.agentyard_wiki_run_history.api.wiki_runs[*].commit_hash
}
