# All limits of users. Every other limit of a user is removed.
resource "agentyard_user_usage_limits" "all" {
  limits = {
    "avery@agentyard.example" = 80000000
    "blake@agentyard.example" = 5000000
  }
}
