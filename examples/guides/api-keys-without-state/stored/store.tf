# A new version stores a new key.
resource "terraform_data" "deploy" {
  triggers_replace = var.key_version

  provisioner "local-exec" {
    # Replace this by the command of your secret store.
    command = "umask 077; printf %s \"$KEY\" >key"

    environment = {
      # An apply fails instead of storing null.
      KEY = coalesce(ephemeral.agentyard_api_key.deploy.key)
    }
  }
}
