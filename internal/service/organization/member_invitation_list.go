package organization

import (
	"context"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// MemberInvitationList is the list resource agentyard_member_invitation.
var MemberInvitationList = crud.ListResource{
	Name:        "member_invitation",
	Description: "Lists the members of the organization. Pending invitations should not be included. `role` and `status` are null, as after an import." + crud.ManagersAssumed("list-members"),
	Results: crud.ListAtOnce[memberInvitationModel]("members", func(ctx context.Context, c *client.Client, _ *struct{}, limit int) ([]invitee, error) {
		found, err := c.Organization.Members(ctx, limit)
		invitees := make([]invitee, len(found))
		for i := range found {
			invitees[i].member = &found[i]
		}
		return invitees, err
	}, func(i *invitee) string { return i.member.Email }, needsManager),
}
