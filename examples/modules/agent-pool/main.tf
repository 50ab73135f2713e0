# A pool of agents: its service account with a key that rotates, its environment, its computers,
# its tasks, and its members' limits.

resource "agentyard_service_account" "this" {
  name        = var.name
  description = "Owns the agent pool ${var.name}"
}

resource "agentyard_api_key" "this" {
  service_account_id = agentyard_service_account.this.id
  name               = var.name
  expires_in         = var.key_lifetime

  rotation = {
    interval             = var.rotation_interval
    grace_period_minutes = 10 # For jobs that still use the previous key.
  }
}

resource "agentyard_environment" "this" {
  name         = var.name
  scope        = "organization"
  setup_script = var.setup_script
  repositories = [for url, script in var.repositories : { url = url, script = script }]
}

resource "agentyard_computer_fleet" "this" {
  name_prefix        = var.name
  quantity           = var.size
  service_account_id = agentyard_service_account.this.id
  repos              = keys(var.repositories)
}

resource "agentyard_session" "task" {
  for_each = var.tasks

  computer_id = agentyard_computer_fleet.this.computers[each.key].id
}

resource "agentyard_session_message" "task" {
  for_each = var.tasks

  session_id = agentyard_session.task[each.key].id
  text       = each.value
}

resource "agentyard_user_usage_limit" "member" {
  for_each = var.members

  email = each.key
  limit = var.member_limit
}
