resource "agentyard_computer" "build" {
  name = "build-1"
}

data "agentyard_computer" "by_name" {
  name = agentyard_computer.build.name
}

data "agentyard_computer" "by_id" {
  id = agentyard_computer.build.id
}

output "steps" {
  value = data.agentyard_computer.by_name.provisioning_steps[*].status
}
