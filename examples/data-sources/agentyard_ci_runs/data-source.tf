data "agentyard_ci_runs" "all" {}

output "failed" {
  value = [
    for run in data.agentyard_ci_runs.all.runs :
    jsondecode(run.raw) if run.conclusion == "failure"
  ]
}
