import {
  to = agentyard_member_invitation.avery
  identity = {
    email = "avery@agentyard.example"
  }
}
