terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }
}

variable "commits" {
  description = "Commit of the main branch of each repository, by URL."
  type        = map(string)
}

resource "agentyard_wiki_run" "each" {
  for_each = var.commits

  repo_url      = each.key
  branch        = "main"
  commit_hash   = each.value
  privacy_level = "organization"

  lifecycle {
    create_before_destroy = true
  }
}
