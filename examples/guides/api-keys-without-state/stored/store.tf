# Stands for a resource of your secret store.
resource "store_secret" "deploy" {
  name = "deploy-key"
  # An apply fails instead of storing null. A plan stores nothing.
  value_wo = (terraform.applying
  ? coalesce(ephemeral.agentyard_api_key.deploy.key) : "none")
  value_wo_version = var.key_version
}
