variable "computer_id" {
  description = "ID of the computer that has the file."
  type        = string
}

# A signed address of a report that an agent has written. It is not stored anywhere.
ephemeral "agentyard_computer_file_download" "report" {
  computer_id = var.computer_id
  file_name   = "report.pdf"
}

# It can be handed to providers, to write-only arguments and to provisioners.
resource "terraform_data" "fetch" {
  provisioner "local-exec" {
    command = "echo fetching the report"

    environment = {
      REPORT_URL = ephemeral.agentyard_computer_file_download.report.url
    }
  }
}
