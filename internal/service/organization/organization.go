// Package organization contains the Terraform objects for members, usage limits, and enterprise controls.
package organization

import (
	"context"
	"errors"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// needsManager is the remedy for a key without the role that every page of this package requires.
var needsManager = apierror.Advice{
	http.StatusForbidden: "This requires the API key of a member with the Manager role or higher.",
}

// lastManager is the remedy for a refused removal of a member.
const lastManager = "You cannot remove yourself, or the last manager or owner. Use the API key of another manager or owner."

// byEmail is a Resource whose identity and import ID are the "email" of a person.
type byEmail struct {
	crud.Resource
	// text describes the address within a page.
	text string
}

type emailIdentity struct {
	Email types.String `tfsdk:"email"`
}

func (r *byEmail) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"email": identityschema.StringAttribute{RequiredForImport: true, Description: r.text + "."},
	}}
}

func (r *byEmail) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Import(ctx, "email", "the member's email address, such as avery@agentyard.example", value.IsEmail, req, resp)
}

var limitOptions = limitOptionsAt(path.Root("email"))

// limitOptionsAt put a refused address on its attribute.
func limitOptionsAt(email path.Path) apierror.Options {
	return apierror.Options{needsManager, apierror.Own(func(err error) (string, path.Path) {
		var refused *organization.RefusedError
		switch {
		case !errors.As(err, &refused):
			return "", path.Empty()
		case refused.Field == "limit":
			return apierror.NotConfirmed, email
		}
		return "The limit of this member was not changed. Correct the email address, or apply again after the member accepts the invitation.", email
	})}
}

// noPeriod follows the description of each limit.
const noPeriod = " The service's API documents do not say which period it covers."

// limitRange is the same in the text of both resources. A lower limit of the service can be read, but not configured.
const limitRange = " Must be at least 1000000. After an import of a lower limit, the next apply raises it."

func limitValidators() []validator.Int64 {
	return []validator.Int64{value.AtLeast(organization.MinUsageLimit)}
}
