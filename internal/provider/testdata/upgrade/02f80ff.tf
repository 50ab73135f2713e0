resource "agentyard_computer" "registered" {
  name          = "workstation"
  provider_type = "byom"
  remote_user   = "builder"
}

resource "agentyard_computer" "managed" {
  name  = "managed"
  repos = ["https://code.example/acme/api"]
}

resource "agentyard_computer_fleet" "red" {
  name_prefix = "red"
  quantity    = 3
}

resource "agentyard_service_account" "robots" {
  name        = "robots"
  description = "Runs the nightly builds."
}

resource "agentyard_computer" "owned" {
  name               = "owned"
  service_account_id = agentyard_service_account.robots.id
}

resource "agentyard_computer_fleet" "owned" {
  name_prefix        = "blue"
  quantity           = 2
  service_account_id = agentyard_service_account.robots.id
}

resource "agentyard_api_key" "nightly" {
  service_account_id = agentyard_service_account.robots.id
  name               = "nightly"
}

resource "agentyard_api_key" "rotated" {
  service_account_id = agentyard_service_account.robots.id
  name               = "rotated"
  expires_in         = "3650d"

  rotation = {
    triggers = { release = "1" }
  }
}
