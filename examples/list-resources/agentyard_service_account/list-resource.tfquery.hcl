# All service accounts of the organization.
list "agentyard_service_account" "all" {
  provider         = agentyard
  include_resource = true
}
