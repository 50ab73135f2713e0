data "agentyard_wiki_export" "each" {
  for_each = agentyard_wiki_run.each

  wiki_run_id = each.value.id
  output_path = "wiki-${basename(each.key)}.zip"
}

output "wikis" {
  value = {
    for url, archive in data.agentyard_wiki_export.each :
    url => archive.output_sha256
  }
}
