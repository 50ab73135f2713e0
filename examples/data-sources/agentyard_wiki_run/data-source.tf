data "agentyard_wiki_run" "api" {
  id = "wiki_01hzy5b9n4q6r8s0t2v4w6x8y0"
}

output "page_count" {
  value = data.agentyard_wiki_run.api.page_count
}

output "top_pages" {
  value = {
    for page in jsondecode(data.agentyard_wiki_run.api.page_tree) :
    page.path => page.title
  }
}
