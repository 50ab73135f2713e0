package organization

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ action.ActionWithConfigure  = (*memberRemoveAction)(nil)
	_ action.ActionWithModifyPlan = (*memberRemoveAction)(nil)
)

// NewMemberRemoveAction returns the action agentyard_member_remove.
func NewMemberRemoveAction() action.Action {
	return &memberRemoveAction{crud.Action{Name: "member_remove"}}
}

type memberRemoveAction struct{ crud.Action }

type memberRemoveModel struct {
	Email types.String `tfsdk:"email"`
}

func (a *memberRemoveAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Removes a member from the organization, or revokes a pending invitation. Succeeds if the member is already gone." + managersOnly + "\n\n" +
			"~> Removing a member cannot be undone. The service deletes their usage limit, and their API keys stop working. " +
			"Computers of service accounts are kept. To bring a member back, invite them again, for example with `agentyard_member_invitation`.",
		Attributes: map[string]schema.Attribute{
			"email": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "Email address of the member or pending invitation. Case-insensitive. " +
					"You cannot remove the owner of the provider's API key, or the last manager or owner of the organization.",
				Validators: []validator.String{value.Email()},
			},
		},
	}
}

// ModifyPlan validates again, because the address usually comes from a variable, which validation does not know.
func (a *memberRemoveAction) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	var m memberRemoveModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if m.Email.IsNull() {
		resp.Diagnostics.AddAttributeError(path.Root("email"), "Missing Email Address", "email is null, so nobody was removed. If it comes from a variable, set the variable with -var NAME=EMAIL.")
	}
	var checked validator.StringResponse
	value.Email().ValidateString(ctx, validator.StringRequest{Path: path.Root("email"), ConfigValue: m.Email}, &checked)
	resp.Diagnostics.Append(checked.Diagnostics...)
}

func (a *memberRemoveAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "remove", "member", req, resp, func(m *memberRemoveModel, tell crud.Tell) error {
		email := m.Email.ValueString()
		err := a.Client.Organization.RemoveMember(ctx, email)
		if collection.IsGone(err) {
			tell("%s is already gone: the service does not list this member.", email)
			return nil
		}
		if err == nil {
			tell("%s was removed from the organization.", email)
		}
		return err
	}, apierror.AtStatus{http.StatusBadRequest: path.Root("email"), http.StatusConflict: path.Root("email")}, needsManager, apierror.Advice{
		http.StatusBadRequest: "Set email to an email address without a name or brackets.",
		http.StatusNotFound:   "The service did not confirm that the member is gone. Check the path in base_url, then invoke the action again.",
		http.StatusConflict:   lastManager,
	})
}
