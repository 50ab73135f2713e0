resource "agentyard_service_account" "builds" {
  name = "builds"
}

# A key without an expiry. Changing the trigger rotates it.
resource "agentyard_api_key" "manual" {
  service_account_id = agentyard_service_account.builds.id
  name               = "manual"

  rotation = {
    triggers = {
      rotation = "1"
    }
  }
}

# A key that lives for 60 days. The first apply after 30 days rotates it, and
# the old key works for 10 more minutes.
resource "agentyard_api_key" "pipeline" {
  service_account_id = agentyard_service_account.builds.id
  name               = "pipeline"
  expires_in         = "60d"

  rotation = {
    interval             = "30d"
    grace_period_minutes = 10
  }
}

# Updated by the apply that rotates the key.
output "pipeline_key" {
  value     = agentyard_api_key.pipeline.key
  sensitive = true
}

output "pipeline_key_due_at" {
  value = agentyard_api_key.pipeline.next_rotation_at
}
