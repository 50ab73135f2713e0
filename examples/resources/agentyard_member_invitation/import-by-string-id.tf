import {
  to = agentyard_member_invitation.avery
  id = "avery@agentyard.example"
}
