check "controls" {
  data "agentyard_enterprise_controls" "current" {}

  assert {
    condition = (
      data.agentyard_enterprise_controls.current.enable_agent_shield == true
    )
    error_message = "The agent shield is off."
  }
}
