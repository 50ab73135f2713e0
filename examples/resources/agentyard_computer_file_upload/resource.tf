resource "agentyard_service_account" "deploy" {
  name = "deploy"
}

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

# A secret, which is in neither plan nor state: a new key, which outlives the
# run. In later runs, it is null, and nothing is uploaded.
ephemeral "agentyard_api_key" "deploy" {
  service_account_id = agentyard_service_account.deploy.id
  name               = "deploy-v1"
  keep               = terraform.applying
}

resource "agentyard_computer_file_upload" "key" {
  computer_id        = agentyard_computer.build.id
  file_name          = "deploy-key-v1"
  content_wo         = ephemeral.agentyard_api_key.deploy.key
  content_wo_version = "1"
}
