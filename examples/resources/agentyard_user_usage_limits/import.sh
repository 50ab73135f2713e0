# An organization has one set of limits of users.
terraform import agentyard_user_usage_limits.all organization
