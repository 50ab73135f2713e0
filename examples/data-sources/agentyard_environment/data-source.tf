data "agentyard_environment" "by_name" {
  name = "app"

  # Fails the run with the reason if the last build failed.
  lifecycle {
    postcondition {
      condition     = self.status != "failed"
      error_message = coalesce(self.failure_reason, "The build of app failed.")
    }
  }
}

data "agentyard_environment" "by_id" {
  id = "env_01hzy3v7k2m4n6p8q0r2s4t6v8"
}

# The commits of the latest build, by repository.
output "built_commits" {
  value = {
    for r in data.agentyard_environment.by_id.latest_build.repositories :
    r.url => r.commit_sha
  }
}
