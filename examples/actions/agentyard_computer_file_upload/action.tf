resource "agentyard_computer" "build" {
  name = "build-1"
}

# Content from the configuration.
action "agentyard_computer_file_upload" "settings" {
  config {
    computer_id = agentyard_computer.build.id
    file_name   = "settings.json"
    content     = jsonencode({ region = "west", debug = false })
  }
}

# A local file of any size.
action "agentyard_computer_file_upload" "data" {
  config {
    computer_id  = agentyard_computer.build.id
    file_name    = "data.tar.gz"
    source_path  = "${path.module}/data.tar.gz"
    content_type = "application/gzip"

    timeouts {
      invoke = "2h"
    }
  }
}

# Uploads both files once per computer. The trigger is a separate resource,
# because an action should not refer to the resource that triggers it.
resource "terraform_data" "files" {
  triggers_replace = agentyard_computer.build.id

  lifecycle {
    action_trigger {
      events = [after_create]
      actions = [
        action.agentyard_computer_file_upload.settings,
        action.agentyard_computer_file_upload.data,
      ]
    }
  }
}
