// Package organization contains the Terraform objects for members, usage limits, and enterprise controls.
package organization

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// crud.ManagersOnly ends every description in this package.
var needsManager = apierror.Advice{
	http.StatusForbidden: "This requires the API key of a member with the Manager role or higher.",
}

// lastManager is the remedy for a refused removal of a member.
const lastManager = "You cannot remove yourself, or the last manager or owner. Use the API key of another manager or owner."

// theOrganization is the ID, identity, and import ID of a singleton.
const theOrganization = "organization"

// importByEmail imports an object by its "email".
func importByEmail(ctx context.Context, object string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	crud.Import(ctx, "email", object, "the member's email address, such as avery@agentyard.example", value.IsEmail, req, resp)
}
