# An organization has one default environment.
terraform import agentyard_default_environment.this organization
