# Cancels the latest build if it is running.
resource "agentyard_environment_build_cancel" "latest" {
  environment_id = "env_01hzy3v7k2m4n6p8q0r2s4t6v8"
}
