variable "wiki_run_id" {
  description = "ID of a wiki run."
  type        = string
}

data "agentyard_wiki_search" "storage" {
  wiki_run_id = var.wiki_run_id
  query       = "storage"
  limit       = 10
}

output "pages_about_storage" {
  value = {
    for page in data.agentyard_wiki_search.storage.results :
    page.path => page.match_count
  }
}
