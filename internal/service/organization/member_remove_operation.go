package organization

import (
	"context"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type memberRemoveModel struct {
	Email types.String `tfsdk:"email"`
}

// MemberRemove is agentyard_member_remove.
var MemberRemove = crud.Operation{
	Name: "member_remove",
	Description: "Removes a member from the organization, or revokes a pending invitation. Succeeds if the member is already gone." + crud.ManagersAssumed("remove-member") + "\n\n" +
		"~> Removing a member cannot be undone. The service should also delete their usage limit and stop accepting their API keys" + crud.Assumed("remove-member") +
		" To bring a member back, invite them again, for example with `agentyard_member_invitation`.",
	Arguments: map[string]schema.Attribute{
		"email": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "Email address of the member or pending invitation. Letter case should not count" + crud.Assumed("set-user-usage-limits-email") + " " +
				"The service should refuse to remove the owner of the provider's API key, or the last manager or owner" + crud.Assumed("remove-member"),
			Validators: []validator.String{value.Email()},
		},
	},
	Canonical: crud.CanonicalModel(func(m *memberRemoveModel) {
		if value.IsSet(m.Email) {
			m.Email = types.StringValue(strings.ToLower(m.Email.ValueString()))
		}
	}),
	Run:  crud.Run(removeMember),
	Verb: "remove", Object: "member",
	Options: apierror.Options{apierror.AtStatus{http.StatusBadRequest: path.Root("email"), http.StatusConflict: path.Root("email")}, needsManager, apierror.Advice{
		http.StatusBadRequest: "Set email to an email address without a name or brackets.",
		http.StatusNotFound:   "The service did not confirm that the member is gone. Check the path in base_url, then run again.",
		http.StatusConflict:   lastManager,
	}},
}

func removeMember(ctx context.Context, c *client.Client, m *memberRemoveModel, call *crud.Call) (crud.Results, error) {
	email := m.Email.ValueString()
	err := c.Organization.RemoveMember(ctx, email)
	if collection.IsGone(err) {
		call.Report("%s is already gone: the service does not list this member.", email)
		return nil, nil
	}
	if err == nil {
		call.Report("%s was removed from the organization.", email)
	}
	return nil, err
}
