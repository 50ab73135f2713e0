data "agentyard_ci_repository_owners" "all" {
  lifecycle {
    postcondition {
      condition     = self.integration.connected
      error_message = "The organization's code host is not connected."
    }
  }
}

output "owners" {
  value = data.agentyard_ci_repository_owners.all.owners[*].login
}
