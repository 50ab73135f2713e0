# By the member's email address.
terraform import agentyard_member_invitation.avery avery@agentyard.example
