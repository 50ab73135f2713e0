data "agentyard_ci_jobs" "all" {}

output "pull_requests" {
  value = {
    for job in data.agentyard_ci_jobs.all.jobs :
    job.id => job.pr_url if job.status == "ready"
  }
}
