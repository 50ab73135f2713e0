# An organization has one set of such limits.
terraform import agentyard_user_usage_limits.all organization
