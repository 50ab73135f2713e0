data "agentyard_service_accounts" "all" {}

output "inactive_service_accounts" {
  value = [
    for account in data.agentyard_service_accounts.all.service_accounts :
    account.name if account.status != "active"
  ]
}
