resource "agentyard_computer" "build" {
  name = "build-1"
}

# Content from the configuration.
resource "agentyard_computer_file_upload" "settings" {
  computer_id = agentyard_computer.build.id
  file_name   = "settings.json"
  content     = jsonencode({ region = "west", debug = false })
}

# A local file of any size. A new version is a new file.
resource "agentyard_computer_file_upload" "data" {
  computer_id  = agentyard_computer.build.id
  file_name    = "data-1.tar.gz"
  source_path  = "${path.module}/data.tar.gz"
  content_type = "application/gzip"

  timeouts {
    create = "2h"
  }
}
