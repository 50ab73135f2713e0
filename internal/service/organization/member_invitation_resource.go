package organization

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ crud.ManagedResource = (*memberInvitationResource)(nil)

// NewMemberInvitationResource returns the resource agentyard_member_invitation.
func NewMemberInvitationResource() resource.Resource {
	return &memberInvitationResource{byEmail{crud.Resource{Name: "member_invitation"}, inviteeText}}
}

type memberInvitationResource struct{ byEmail }

type memberInvitationModel struct {
	ID              types.String `tfsdk:"id"`
	Email           types.String `tfsdk:"email"`
	Role            types.String `tfsdk:"role"`
	RemoveOnDestroy types.Bool   `tfsdk:"remove_on_destroy"`
	Status          types.String `tfsdk:"status"`
	MemberID        types.String `tfsdk:"member_id"`
}

// invitee is what a request has shown about a person. Empty fields mean that it has not shown them, and the state is kept.
type invitee struct {
	status string
	member *organization.Member
}

func (m *memberInvitationModel) FromAPI(_ context.Context, i *invitee) diag.Diagnostics {
	if m.Email.IsNull() { // In a list.
		m.Email = types.StringValue(i.member.Email)
	}
	m.ID = m.Email
	if i.status != "" {
		m.Status = types.StringValue(i.status)
	}
	switch {
	case i.member != nil:
		m.MemberID = types.StringValue(i.member.ID)
	case m.MemberID.IsUnknown():
		m.MemberID = types.StringNull()
	}
	return nil
}

func (m *memberInvitationModel) Identity() any { return &emailIdentity{Email: m.Email} }

const inviteeText = "Email address to invite, or of the member. Letter case should not count"

func (r *memberInvitationResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Invites a new member to the organization, or sets the role of an existing member." + crud.ManagersAssumed("invite-member") + "\n\n" +
			"~> **Members.** Setting `role` also sets the role of an existing member, and the plan warns about it. Without `role`, an existing member is not changed. To rename this resource, add a `moved` block.\n\n" +
			"**Drift.** The service shows no roles, and should list no pending invitations" + crud.Assumed("list-members") + " A revoked or expired invitation stays in the state, and a role that was changed elsewhere is not detected. " +
			"To repeat an invitation, run `terraform apply -replace=ADDRESS`. With `remove_on_destroy = true`, first check that the invitation was not accepted: the replacement would remove the member.\n\n" +
			"**Role.** Changing `role` updates the role of a member in place. The service should not change a pending invitation, so the apply fails until the invitation is accepted.\n\n" +
			"**Destroy.** By default, destroying this resource only removes it from the state. To also remove the member from the organization, set `remove_on_destroy`, " +
			"or use the action `agentyard_member_remove`. Both remove a member or revoke a pending invitation. See [Offboarding](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/spend-governance#offboard-a-member).\n\n" +
			"~> **Removal.** With `remove_on_destroy = true`, replacing the resource also removes the member: changing `email` removes the one with the old address. The plan warns about it, except with `-replace`. " +
			"The value in the state applies: to keep the member, first apply `false`. To rename the resource or change its `for_each` key, add a `moved` block. " +
			"Do not use `count` here: removing one address from a list would shift the others, and remove some of those members too." + crud.WeakEvidence,
		Attributes: map[string]schema.Attribute{
			"id": crud.IDAttribute("The same as `email`."),
			"email": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: inviteeText + crud.Assumed("set-user-usage-limits-email") + " Changing this forces a new invitation.",
				Validators:          []validator.String{value.Email()},
				PlanModifiers:       []planmodifier.String{modifier.KeepCase(), stringplanmodifier.RequiresReplace()},
			},
			"role": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Role in the organization. One of `user`, `manager`, or `owner`. If omitted, a new member should get `user`, and an existing member keeps their role.",
				Validators:          []validator.String{value.OneOf(organization.RoleUser, organization.RoleManager, organization.RoleOwner)},
			},
			"remove_on_destroy": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "Whether destroying this resource removes the member from the organization, or revokes the pending invitation. Succeeds if the member is already gone. " +
					"The service should refuse to remove the owner of the provider's API key, or the last manager or owner" + crud.Assumed("remove-member") + " Defaults to `false`.",
			},
			"status": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "Result of the last request to invite the member: `invited`, `already_invited`, `already_member`, or `role_updated`. " +
					"Null after an import.",
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"member_id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "ID of the member. Null for a pending invitation, until the first refresh after the member has joined.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
		},
	}
}

// ModifyPlan warns if the person is a member already, or is a member whom the apply removes. The status is known only after
// an invitation.
func (r *memberInvitationResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state, plan memberInvitationModel
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	if req.Plan.Raw.IsNull() {
		r.warnRemoval(ctx, &state, resp)
		return
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		if !plan.Role.IsNull() && !plan.Role.Equal(state.Role) {
			resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("status"), types.StringUnknown())...)
		}
		if !plan.Email.Equal(state.Email) {
			r.warnRemoval(ctx, &state, resp)
		}
		return
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), plan.Email)...)
	if resp.Diagnostics.HasError() || r.Client.Conn.Configured() != nil {
		return
	}
	// An unknown address matches nobody. The apply plans again, with the known address.
	member, err := r.Client.Organization.Member(ctx, "", plan.Email.ValueString())
	resp.Diagnostics.Append(apierror.For("plan", "member invitation", err, invitationOptions)...)
	if member == nil {
		return
	}
	effect := ""
	switch {
	case value.IsSet(plan.Role):
		effect = "the apply sets their role to " + plan.Role.ValueString()
	case plan.RemoveOnDestroy.ValueBool():
		effect = "destroying this resource will remove them from the organization"
	default:
		return
	}
	resp.Diagnostics.AddAttributeWarning(path.Root("email"), "Already a member", fmt.Sprintf("%s is already a member, and %s. To rename this resource, add a moved block.", member.Email, effect))
}

// warnRemoval warns if destroying the resource removes a member. Without a listing, it says nothing. Terraform shows no warning
// of a replacement that was requested with -replace.
func (r *memberInvitationResource) warnRemoval(ctx context.Context, state *memberInvitationModel, resp *resource.ModifyPlanResponse) {
	if !state.RemoveOnDestroy.ValueBool() || r.Client.Conn.Configured() != nil {
		return
	}
	member, err := r.Client.Organization.Member(ctx, state.MemberID.ValueString(), state.Email.ValueString())
	if err == nil && member != nil {
		resp.Diagnostics.AddWarning("Member will be removed", member.Email+" is a member, and remove_on_destroy is true in the state. Destroying the invitation also removes them from the organization.")
	}
}

var invitationOptions = apierror.Options{needsManager, apierror.Own(func(err error) (remedy string, at path.Path) {
	var refused *organization.RefusedError
	switch {
	case !errors.As(err, &refused):
		return "", path.Empty()
	case refused.Field == "role":
		return "Set role to the one that the service kept, or apply again after the invitation is accepted.", path.Root("role")
	}
	return "Nobody was invited, and no role was changed. Resolve what the service reports, then apply again.", path.Root("email")
})}

// Create invites nobody who is a member, unless their role is configured: the service gives an invited member the default role.
func (r *memberInvitationResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *memberInvitationModel) (*invitee, error) {
		member, err := r.Client.Organization.MemberNow(ctx, m.Email.ValueString())
		if err != nil {
			return nil, err
		}
		if member != nil && m.Role.IsNull() {
			return &invitee{status: organization.AlreadyMember, member: member}, nil
		}
		return r.invite(ctx, m, member)
	}, invitationOptions)
}

func (r *memberInvitationResource) invite(ctx context.Context, m *memberInvitationModel, member *organization.Member) (*invitee, error) {
	status, err := r.Client.Organization.Invite(ctx, m.Email.ValueString(), m.Role.ValueString())
	return &invitee{status, member}, err
}

// Read removes a person from the state who was a member and no longer is. Somebody who has not joined may still be invited.
func (r *memberInvitationResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	imported := privatestate.IsImportUnread(ctx, req.Private)
	joined := crud.Resource{Client: r.Client, Name: "member"} // For the errors.
	crud.Read(ctx, &joined, req, resp, func(m *memberInvitationModel) (*invitee, error) {
		email := m.Email.ValueString()
		member, err := r.member(ctx, m)
		switch {
		case err != nil:
			return nil, err
		case member != nil:
			return &invitee{member: member}, nil
		case imported:
			return nil, fmt.Errorf("nobody has joined with the email address %q. The service does not show pending invitations, so they cannot be imported. "+
				"To manage a pending invitation, apply without the import: repeating an invitation does not change it", email)
		case !m.MemberID.IsNull():
			return nil, &collection.MissingError{Err: fmt.Errorf("the organization has no member with the email address %q", email)}
		}
		return &invitee{}, nil
	}, invitationOptions)
}

// Update invites again if another role is configured. The plan has marked the status as unknown then.
func (r *memberInvitationResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, &r.Resource, req, resp, func(plan, _ *memberInvitationModel) (*invitee, error) {
		if !plan.Status.IsUnknown() {
			return nil, nil
		}
		return r.invite(ctx, plan, nil)
	}, invitationOptions)
}

// member returns the member who was invited, or nil. If the member's address was changed elsewhere, another person may have it now.
func (r *memberInvitationResource) member(ctx context.Context, m *memberInvitationModel) (*organization.Member, error) {
	email := m.Email.ValueString()
	member, err := r.Client.Organization.Member(ctx, m.MemberID.ValueString(), email)
	if err != nil || member == nil || strings.EqualFold(member.Email, email) {
		return member, err
	}
	return nil, &crud.ObjectError{At: path.Root("email"), Summary: "Member has another email address",
		Detail: fmt.Sprintf("The email address of member %s was changed from %s to %s. Run terraform state rm ADDRESS. To keep managing the member, set email to %q, and import the member with this address.", member.ID, email, member.Email, member.Email)}
}

// Delete removes nobody by default, so that destroying a configuration does not lock anybody out.
func (r *memberInvitationResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(m *memberInvitationModel) error {
		if !m.RemoveOnDestroy.ValueBool() {
			return nil
		}
		if !m.MemberID.IsNull() {
			if _, err := r.member(ctx, m); err != nil {
				return err
			}
		}
		return r.Client.Organization.RemoveMember(ctx, m.Email.ValueString())
	}, needsManager, apierror.Advice{
		http.StatusNotFound: "The service did not confirm that the member is gone. Check the path in base_url, then apply again.",
		http.StatusConflict: lastManager,
	})
}
