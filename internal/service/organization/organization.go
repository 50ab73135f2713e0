// Package organization contains the Terraform objects for members, usage limits, and enterprise controls.
package organization

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// managersOnly ends every description in this package.
const managersOnly = " Requires the API key of a member with the Manager role or higher."

var needsManager = apierror.Advice{
	http.StatusForbidden: "This requires the API key of a member with the Manager role or higher.",
}

// lastManager is the remedy for a refused removal of a member.
const lastManager = "You cannot remove yourself, or the last manager or owner. Use the API key of another manager or owner."

// theOrganization is the ID, identity, and import ID of a singleton.
const theOrganization = "organization"

// importByEmail imports an object by its "email". Terraform then calls Read, which completes the state.
func importByEmail(ctx context.Context, object string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	given := types.StringValue(req.ID)
	if req.ID == "" && req.Identity != nil {
		resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root("email"), &given)...)
	}
	if !value.IsEmail(given.ValueString()) {
		resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("The import ID of %s is the member's email address, such as avery@agentyard.example, got: %q.", phrase.WithArticle(object), given.ValueString()))
		return
	}
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("email"), path.Root("email"), req, resp)
	resp.Diagnostics.Append(modifier.SetImported(ctx, resp.Private)...)
}
