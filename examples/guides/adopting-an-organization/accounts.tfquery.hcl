list "agentyard_service_account" "all" {
  provider         = agentyard
  include_resource = true
  limit            = 1000
}

locals {
  # The accounts by ID, because names may not be unique.
  accounts = toset([
    for account in list.agentyard_service_account.all.data : account.identity.id
  ])
}

list "agentyard_api_key" "of" {
  for_each = local.accounts

  provider         = agentyard
  include_resource = true
  limit            = 1000

  config {
    service_account_id = each.value
  }
}

list "agentyard_computer" "of" {
  for_each = local.accounts

  provider         = agentyard
  include_resource = true
  limit            = 1000

  config {
    service_account_id = each.value
    include_unlisted   = true
  }
}
