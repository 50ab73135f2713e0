data "agentyard_ci_scan" "workflows" {}

output "models" {
  value = {
    for workflow in data.agentyard_ci_scan.workflows.workflows :
    "${workflow.repo_full_name}/${workflow.file_path}" => try(jsondecode(workflow.agent_action_inputs).model, null)
  }
}
