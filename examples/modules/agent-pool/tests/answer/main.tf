# Reads the last message of an agent.

terraform {
  required_version = ">= 1.6"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

variable "session_id" {
  description = "ID of the agent's session."
  type        = string
}

data "agentyard_session_messages" "answer" {
  session_id  = var.session_id
  roles       = ["assistant"]
  max_results = 1
}

output "answer" {
  description = "Text of the message."
  value       = one(data.agentyard_session_messages.answer.messages[*].text)
}
