terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

# Removes the limits of all other members.
resource "agentyard_user_usage_limits" "all" {
  limits = {
    "avery@agentyard.example" = 80000000
    "blake@agentyard.example" = 5000000
  }
}

data "agentyard_usage_limits" "now" {
  depends_on = [agentyard_user_usage_limits.all]
}

# The limit that applies to each member.
output "limits" {
  value = {
    for member in data.agentyard_usage_limits.now.effective_limits :
    member.email => member.limit
  }
}
