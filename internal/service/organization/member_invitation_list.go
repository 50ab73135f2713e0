package organization

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

var _ list.ListResourceWithConfigure = (*memberInvitationList)(nil)

// NewMemberInvitationList returns the list resource agentyard_member_invitation.
func NewMemberInvitationList() list.ListResource {
	return &memberInvitationList{memberInvitationResource{crud.Resource{Name: "member_invitation"}}}
}

// memberInvitationList has the type name of memberInvitationResource, as a list resource must.
type memberInvitationList struct{ memberInvitationResource }

func (l *memberInvitationList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the members of the organization, without pending invitations. `role` and `status` are null, as after an import." + crud.ManagersAssumed("list-members"),
	}
}

func (l *memberInvitationList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	members := crud.AtOnce(func() ([]invitee, error) {
		found, err := l.Client.Organization.Members(ctx, int(req.Limit))
		invitees := make([]invitee, len(found))
		for i := range found {
			invitees[i].member = &found[i]
		}
		return invitees, err
	})
	crud.List[memberInvitationModel](ctx, "members", req, stream, members, func(i *invitee) string { return i.member.Email }, needsManager)
}
