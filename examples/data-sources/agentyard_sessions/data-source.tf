# The sessions of the API key's owner, on all computers.
data "agentyard_sessions" "all" {}

# The ten newest on one computer.
data "agentyard_sessions" "on_build" {
  computer_id = "6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10"
  max_results = 10
}

output "running" {
  value = {
    for s in data.agentyard_sessions.all.sessions :
    s.id => s.title if s.status == "running"
  }
}

output "tagged_nightly" {
  value = [
    for s in data.agentyard_sessions.on_build.sessions : s.id
    if contains(try(s.session_settings.tags[*].name, []), "nightly")
  ]
}
