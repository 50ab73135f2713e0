data "agentyard_wiki_run_history" "api" {
  repo_url = "https://code.example/acme/api"
}

output "described_commits" {
  description = "Commits that have a wiki, newest first."
  value       = data.agentyard_wiki_run_history.api.wiki_runs[*].commit_hash
}
