# Cancels the latest build.
# To invoke it:
#   terraform apply -invoke=action.agentyard_environment_build_cancel.latest
action "agentyard_environment_build_cancel" "latest" {
  config {
    environment_id = "env_01hzy3v7k2m4n6p8q0r2s4t6v8"
  }
}

# Cancels one specific build.
action "agentyard_environment_build_cancel" "one" {
  config {
    environment_id = "env_01hzy3v7k2m4n6p8q0r2s4t6v8"
    build_id       = "bld_01hzy3x9d4f6g8h0j2k4m6n8p0"
  }
}
