data "agentyard_ci_scan" "workflows" {}

output "models" {
  value = {
    for w in data.agentyard_ci_scan.workflows.workflows :
    "${w.repo_full_name}/${w.file_path}" =>
    try(jsondecode(w.agent_action_inputs).model, null)
  }
}
