data "agentyard_computer_providers" "available" {}

output "providers" {
  value = data.agentyard_computer_providers.available.providers
}
