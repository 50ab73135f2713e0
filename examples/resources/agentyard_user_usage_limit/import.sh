# By the member's email address.
terraform import agentyard_user_usage_limit.avery avery@agentyard.example
