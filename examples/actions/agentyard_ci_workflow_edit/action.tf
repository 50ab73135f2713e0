data "agentyard_ci_repositories" "acme" {
  owner = "acme"
}

locals {
  # Repositories that the API key's owner and the service's app can write to.
  writable = [
    for r in data.agentyard_ci_repositories.acme.repositories : r.full_name
    if r.service_app_writable == true &&
    contains(["admin", "write"], coalesce(r.user_permission, "unknown"))
  ]
}

# To invoke it:
#   terraform apply -invoke=action.agentyard_ci_workflow_edit.security
action "agentyard_ci_workflow_edit" "security" {
  config {
    action          = "create"
    mode_id         = "security-audit"
    automation_name = "Weekly audit"

    repos = [for name in local.writable : { repo_full_name = name }]

    changes = {
      name          = "Weekly audit"
      custom_prompt = "Look for secrets and for vulnerable dependencies."
      schedule      = "0 6 * * 1"
      github_events = ["pr-opened"]
    }
  }
}

variable "review_depth" {
  description = "Depth of pull request reviews: deep or shallow."
  type        = string
  default     = "deep"
}

action "agentyard_ci_workflow_edit" "review" {
  config {
    action = "edit"

    repos = [{
      repo_full_name = "acme/web"
      file_path      = ".github/workflows/agent-review.yml"
    }]

    changes = {
      yaml_params = <<-YAML
        automatic_review: true
        review_depth: ${var.review_depth}
      YAML
    }
  }
}

# Opens a pull request when the depth changes.
resource "terraform_data" "review_depth" {
  input = var.review_depth

  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.agentyard_ci_workflow_edit.review]
    }
  }
}
