# The newest wiki run of each repository.
list "agentyard_wiki_run" "newest" {
  provider         = agentyard
  include_resource = true
  limit            = 1000
}

# All wiki runs of one repository.
list "agentyard_wiki_run" "of_api" {
  provider = agentyard

  config {
    repo_url = "https://code.example/acme/api"
  }
}
