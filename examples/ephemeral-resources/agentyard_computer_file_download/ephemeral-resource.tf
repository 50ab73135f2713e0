variable "computer_id" {
  description = "ID of the computer with the file."
  type        = string
}

# A signed URL for a report that an agent wrote.
ephemeral "agentyard_computer_file_download" "report" {
  computer_id = var.computer_id
  file_name   = "report.pdf"
}

# A provisioner runs in the apply only. With coalesce, it fails if there is no
# such file.
resource "terraform_data" "fetch" {
  provisioner "local-exec" {
    command = "curl -fsS -o report.pdf \"$REPORT_URL\""

    environment = {
      REPORT_URL = coalesce(
      ephemeral.agentyard_computer_file_download.report.url)
    }
  }
}
