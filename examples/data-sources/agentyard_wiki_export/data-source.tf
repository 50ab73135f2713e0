variable "wiki_run_id" {
  description = "ID of a wiki run."
  type        = string
}

# Each plan writes the archive into the working directory.
data "agentyard_wiki_export" "docs" {
  wiki_run_id = var.wiki_run_id
  output_path = "wiki.zip"
}

# Replaced only if the archive has changed.
resource "terraform_data" "published" {
  triggers_replace = data.agentyard_wiki_export.docs.output_sha256
  input            = data.agentyard_wiki_export.docs.output_path
}
