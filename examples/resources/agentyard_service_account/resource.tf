# The account of a build pipeline.
resource "agentyard_service_account" "builds" {
  name        = "builds"
  description = "Runs the builds of the main branch"
}

# An inactive account. Its keys should work only after it is active.
resource "agentyard_service_account" "releases" {
  name   = "releases"
  status = "inactive"
}

# A computer that the account owns. Destroying the account also deletes the
# computer.
resource "agentyard_computer" "builder" {
  name               = "builder-1"
  service_account_id = agentyard_service_account.builds.id
}
