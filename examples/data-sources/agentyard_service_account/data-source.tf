data "agentyard_service_account" "by_name" {
  name = "ci"
}

data "agentyard_service_account" "by_id" {
  id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"
}

output "ci_is_active" {
  value = data.agentyard_service_account.by_name.status == "active"
}
