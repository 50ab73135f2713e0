package crud

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
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

// IDAttribute is the "id" of an object that has none at the service.
func IDAttribute(description string) schema.StringAttribute {
	return schema.StringAttribute{
		Computed:            true,
		MarkdownDescription: description,
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// Import imports an object by the attribute of its identity. Form describes valid IDs for the error message. Terraform then calls Read,
// which completes the state.
func (r *Resource) Import(ctx context.Context, attribute, form string, isValid func(string) bool, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	given := types.StringValue(req.ID)
	if hasIdentity(req) {
		resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root(attribute), &given)...)
	}
	if !isValid(given.ValueString()) {
		resp.Diagnostics.AddError("Invalid import ID", fmt.Sprintf("The import ID of the %s is %s, not %q.", r.object(), form, given.ValueString()))
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

// ByID is a Resource whose identity and import ID are its ID at the service.
type ByID struct {
	Resource
	// Example is an ID for the error of a malformed one.
	Example string
}

// IdentitySchema sets the schema of ID.
func (r *ByID) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = IDSchema("The " + r.object() + "'s ID.")
}

// ImportState imports the object by its ID, which is part of the paths of requests.
func (r *ByID) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Import(ctx, "id", "its ID at the service, such as "+r.Example, func(id string) bool {
		return id != "" && id != "." && id != ".." && !strings.ContainsAny(id, "/ \t\n")
	}, req, resp)
}

// Singleton is a Resource that an organization has once.
type Singleton struct{ Resource }

// SingletonID is the ID, identity, and import ID of a singleton. The API key determines which organization it is.
const SingletonID = "organization"

const singletonText = "Always `" + SingletonID + "`."

// SingletonModel is embedded in the model of a singleton. FromAPI sets the ID.
type SingletonModel struct {
	ID types.String `tfsdk:"id"`
}

// Identity implements Identified.
func (*SingletonModel) Identity() any { return &ID{ID: types.StringValue(SingletonID)} }

// SingletonAttribute is the attribute of SingletonModel.
func SingletonAttribute() schema.StringAttribute { return IDAttribute(singletonText) }

// IdentitySchema sets the schema of ID.
func (r *Singleton) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = IDSchema(singletonText)
}

// ImportState imports the object by its ID.
func (r *Singleton) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Import(ctx, "id", fmt.Sprintf("always %q", SingletonID), func(given string) bool { return given == SingletonID }, req, resp)
}
