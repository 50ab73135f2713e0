data "agentyard_wiki_runs" "all" {}

output "newest" {
  description = "The newest wiki run of each repository."
  value = {
    for run in data.agentyard_wiki_runs.all.wiki_runs : run.repo_url => run.id
  }
}
