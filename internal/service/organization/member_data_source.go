package organization

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type memberModel struct {
	ID           types.String `tfsdk:"id"`
	Email        types.String `tfsdk:"email"`
	FirstName    types.String `tfsdk:"first_name"`
	LastName     types.String `tfsdk:"last_name"`
	CreatedAt    types.String `tfsdk:"created_at"`
	LastSignInAt types.String `tfsdk:"last_sign_in_at"`
	Metadata     types.Map    `tfsdk:"metadata"`
}

// MemberDataSource is the data source agentyard_member.
var MemberDataSource = crud.DataSource{
	Name:        "member",
	Description: "Returns a member of the organization by email address. Pending invitations should not be included." + crud.ManagersAssumed("list-members"),
	Attributes: memberResults.DataSource(map[string]schema.Attribute{
		"email": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: memberResults["email"].Text + " The provider ignores letter case.",
			Validators:          []validator.String{value.Email()},
		},
	}),
	Verb: "read", Object: "member", Options: apierror.Options{needsManager},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *memberModel) error {
		member, err := c.Organization.Member(ctx, "", m.Email.ValueString())
		if err != nil {
			return err
		}
		if member == nil {
			return &crud.ObjectError{At: path.Root("email"), Summary: "Member not found", Detail: fmt.Sprintf("The organization has no member with the email address %q. "+
				"A pending invitation is not a member yet. Check the address.", m.Email.ValueString())}
		}
		return crud.Failure(m.FromAPI(ctx, member))
	}),
}

// FromAPI keeps the configured case of the email address.
func (m *memberModel) FromAPI(ctx context.Context, u *organization.Member) diag.Diagnostics {
	given := m.Email
	diags := memberResults.Into(ctx, u, m)
	if strings.EqualFold(given.ValueString(), u.Email) {
		m.Email = given
	}
	return diags
}
