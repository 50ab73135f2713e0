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

resource "agentyard_environment" "app" {
  name         = "app"
  scope        = "organization"
  setup_script = "apt-get update"
  repositories = [{ url = "https://git.example/acme/app.git", script = "make" }]
}

resource "agentyard_environment" "quick" {
  name           = "quick"
  wait_for_build = false
  repositories   = [{ url = "https://git.example/acme/app.git", script = "make" }]
}

resource "agentyard_default_environment" "organization" {
  environment_id = agentyard_environment.app.id
}

resource "agentyard_global_usage_limit" "organization" {
  limit = 5000000
}

resource "agentyard_user_usage_limit" "avery" {
  email = "manager@agentyard.example"
  limit = 2000000
}

resource "agentyard_session" "plain" {
  computer_id = agentyard_computer.registered.id
}

resource "agentyard_session" "review" {
  computer_id = agentyard_computer.managed.id
  cwd         = "/srv/app"

  session_settings = {
    model             = "model-thinking"
    autonomy_level    = "low"
    disabled_tool_ids = ["web-search"]
    tags              = [{ name = "nightly" }, { name = "team", metadata = { owner = "platform" } }]
    worktree          = { repo_root = "/srv/app", branch = "review", lifecycle = "ephemeral" }
  }

  system_prompt_append = "Review the open pull requests."
}

resource "agentyard_wiki_run" "api" {
  repo_url      = "https://code.example/acme/api"
  privacy_level = "organization"
  triggers      = { release = "1" }
}
