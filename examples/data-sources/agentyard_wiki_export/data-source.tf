variable "wiki_run_id" {
  description = "ID of a wiki run."
  type        = string
}

# Written into the working directory whenever this is planned.
data "agentyard_wiki_export" "docs" {
  wiki_run_id = var.wiki_run_id
  output_path = "wiki.zip"
}

# Replaced, and so run again, only where the archive has changed.
resource "terraform_data" "published" {
  triggers_replace = data.agentyard_wiki_export.docs.output_sha256
  input            = data.agentyard_wiki_export.docs.output_path
}
