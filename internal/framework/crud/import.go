package crud

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
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

// ImportByID imports an object by its "id". Example is an ID for the error message. Terraform then calls Read, which
// completes the state.
func ImportByID(ctx context.Context, object, example string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	switch {
	case req.ID == ".", req.ID == "..":
		resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("%q cannot be part of a request's path. The import ID of %s is its ID at the service, such as %s.", req.ID, phrase.WithArticle(object), example))
		return
	case strings.ContainsAny(req.ID, "/ \t\n"):
		resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("The import ID of %s is its ID at the service, such as %s, got: %q.", phrase.WithArticle(object), example, req.ID))
		return
	}
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("id"), path.Root("id"), req, resp)
	resp.Diagnostics.Append(modifier.SetImported(ctx, resp.Private)...)
}

// ImportSingleton imports an object whose ID is always id. The hint is a sentence; empty for none.
func ImportSingleton(ctx context.Context, object, id, hint string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	given := types.StringValue(req.ID)
	if req.ID == "" && req.Identity != nil {
		resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root("id"), &given)...)
	}
	if given.ValueString() != id {
		resp.Diagnostics.AddError("Invalid Import ID", phrase.Join(fmt.Sprintf("The import ID of the %s is always %q, got: %q.", object, id, given.ValueString()), hint))
		return
	}
	ImportByID(ctx, object, id, req, resp)
}
