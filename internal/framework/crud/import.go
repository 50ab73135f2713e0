package crud

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
)

// ID is the identity of an object that is identified by its ID.
type ID struct {
	ID types.String `tfsdk:"id"`
}

// IDSchema returns the schema of ID.
func IDSchema(description string) identityschema.Schema {
	return identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: description},
	}}
}

// Import imports an object by the attribute of its identity. Form describes valid IDs for the error message. Terraform then calls Read,
// which completes the state.
func Import(ctx context.Context, attribute, object, form string, isValid func(string) bool,
	req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	given := types.StringValue(req.ID)
	if hasIdentity(req) {
		resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root(attribute), &given)...)
	}
	if !isValid(given.ValueString()) {
		resp.Diagnostics.AddError("Invalid import ID", fmt.Sprintf("The import ID of the %s is %s, not %q.", object, form, given.ValueString()))
		return
	}
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root(attribute), path.Root(attribute), req, resp)
	resp.Diagnostics.Append(privatestate.MarkImported(ctx, resp.Private)...)
}

// IdentityOf decodes the identity of an import, and reports whether there is one.
func IdentityOf(ctx context.Context, req resource.ImportStateRequest, identity any, diags *diag.Diagnostics) bool {
	if !hasIdentity(req) {
		return false
	}
	diags.Append(req.Identity.Get(ctx, identity)...)
	return true
}

// hasIdentity reports whether an import is by identity. The framework passes a null identity with an empty ID.
func hasIdentity(req resource.ImportStateRequest) bool {
	return req.ID == "" && req.Identity != nil && !req.Identity.Raw.IsNull()
}

// ImportByID imports an object by its "id", which is part of the paths of requests. Example is an ID for the error message.
func ImportByID(ctx context.Context, object, example string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	Import(ctx, "id", object, "its ID at the service, such as "+example, func(id string) bool {
		return id != "" && id != "." && id != ".." && !strings.ContainsAny(id, "/ \t\n")
	}, req, resp)
}

// ImportSingleton imports an object whose ID is always id.
func ImportSingleton(ctx context.Context, object, id string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	Import(ctx, "id", object, fmt.Sprintf("always %q", id), func(given string) bool { return given == id }, req, resp)
}
