package organization

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
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

// NewMemberDataSource returns the data source agentyard_member.
func NewMemberDataSource() datasource.DataSource {
	attributes := memberResults.DataSource()
	attributes["email"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: memberResults["email"].Text + " Case-insensitive.",
		Validators:          []validator.String{value.Email()},
	}
	return &crud.DataSource{
		Name:        "member",
		Description: "Returns a member of the organization by email address. Pending invitations are not included." + managersOnly,
		Attributes:  attributes,
		Verb:        "read", Object: "member", Options: apierror.Options{needsManager},
		Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *memberModel) error {
			found, err := c.Organization.MembersByEmail(ctx, m.Email.ValueString())
			if err != nil {
				return err
			}
			member, err := onlyMember(m.Email.ValueString(), found)
			if err != nil {
				return err
			}
			return crud.Failure(m.FromAPI(ctx, member))
		}),
	}
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

// onlyMember returns the only member with an email address. No match, or more than one, is an error.
func onlyMember(email string, found []organization.Member) (*organization.Member, error) {
	switch len(found) {
	case 0:
		return nil, &crud.ObjectError{At: path.Root("email"), Summary: "Member Not Found", Detail: fmt.Sprintf("The organization has no member with the email address %q. "+
			"A pending invitation is not a member yet. Check the address.", email)}
	case 1:
		return &found[0], nil
	}
	names := make([]string, len(found))
	for i, m := range found {
		names[i] = fmt.Sprintf("%s (%s)", m.Email, m.ID)
	}
	return nil, &crud.ObjectError{At: path.Root("email"), Summary: "Member Is Ambiguous", Detail: fmt.Sprintf("%d members have the email address %q in different upper and lower case: %s. "+
		"Use the data source agentyard_members, and select the member by its ID.", len(found), email, phrase.Names(names, 10))}
}
