variable "wiki_run_id" {
  description = "ID of a wiki run."
  type        = string
}

data "agentyard_wiki_search" "storage" {
  wiki_run_id = var.wiki_run_id
  query       = "storage"
  limit       = 1
}

# The first match for "storage". The plan fails if there is none.
data "agentyard_wiki_page" "storage" {
  wiki_run_id = var.wiki_run_id
  page_id     = data.agentyard_wiki_search.storage.results[0].page_id
}

output "about_storage" {
  value = data.agentyard_wiki_page.storage.content
}
