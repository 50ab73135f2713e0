# An organization has one global limit.
terraform import agentyard_global_usage_limit.this organization
