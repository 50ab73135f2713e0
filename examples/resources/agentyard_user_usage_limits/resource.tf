# The only members with a limit of their own, in credits. Every other member
# loses theirs. The addresses are samples.
resource "agentyard_user_usage_limits" "all" {
  limits = {
    "avery@agentyard.example" = 80000000
    "blake@agentyard.example" = 5000000
  }
}
