resource "agentyard_ci_workflow_edit" "security" {
  action          = "create"
  mode_id         = "security-audit"
  automation_name = "Weekly audit"

  repos = [
    { repo_full_name = "acme/api" },
    { repo_full_name = "acme/web" },
  ]

  changes = {
    name          = "Weekly audit"
    custom_prompt = "Look for secrets and for vulnerable dependencies."
    schedule      = "0 6 * * 1"
    github_events = ["pr-opened"]
  }

  lifecycle {
    postcondition {
      condition     = alltrue([for r in self.results : r.error == null])
      error_message = "Failed: ${join("; ", compact(self.results[*].error))}"
    }
  }
}

output "pull_requests" {
  value = {
    for r in agentyard_ci_workflow_edit.security.results :
    r.repo_full_name => r.pr_url
  }
}
