// Package crud holds the steps that every Terraform object takes around its call of the service: decoding, the error
// check, translation of errors, what "gone" means, and keeping state and identity together. Schemas, defaults,
// timeouts and request bodies stay with the object; any step can be written by hand instead.
package crud

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// Model is what the steps need of an object's model.
type Model[A any] interface {
	// FromAPI takes over everything the service returned, and touches nothing that only the configuration owns.
	FromAPI(context.Context, *A) diag.Diagnostics
	// Identity returns the identity's model, or nil for an object without one.
	Identity() any
}

// Resource gives a managed resource or a list resource its client. Embed it.
type Resource struct{ Client *client.Client }

// Configure takes the client that the provider made.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.Client = configured(req.ProviderData, &resp.Diagnostics)
}

// DataSource gives a data source its client. Embed it.
type DataSource struct{ Client *client.Client }

// Configure takes the client that the provider made.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.Client = configured(req.ProviderData, &resp.Diagnostics)
}

// Ephemeral gives an ephemeral resource its client. Embed it.
type Ephemeral struct{ Client *client.Client }

// Configure takes the client that the provider made.
func (e *Ephemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.Client = configured(req.ProviderData, &resp.Diagnostics)
}

// Action gives an action its client. Embed it.
type Action struct{ Client *client.Client }

// Configure takes the client that the provider made.
func (a *Action) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	a.Client = configured(req.ProviderData, &resp.Diagnostics)
}

// configured returns nil before the provider is configured: Terraform also asks for schemas and validation then.
func configured(data any, diags *diag.Diagnostics) *client.Client {
	if data == nil {
		return nil
	}
	c, ok := data.(*client.Client)
	if !ok {
		diags.AddError("Provider Not Configured", fmt.Sprintf("The provider handed over a %T where a client was expected. This is a bug in the provider; please report it.", data))
	}
	return c
}

// Create runs make on the plan and stores what it returns.
func Create[M, A any, P interface {
	*M
	Model[A]
}](ctx context.Context, object string, req resource.CreateRequest, resp *resource.CreateResponse, create func(*M) (*A, error), options ...apierror.Option) {
	var m M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	made, err := create(&m)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", object, err, options...)...)
		return
	}
	resp.Diagnostics.Append(P(&m).FromAPI(ctx, made)...)
	resp.Diagnostics.Append(Save(ctx, &resp.State, resp.Identity, &m, P(&m).Identity())...)
}

// Read stores what read returns, or removes the object from the state with a warning where it is gone.
func Read[M, A any, P interface {
	*M
	Model[A]
}](ctx context.Context, object string, req resource.ReadRequest, resp *resource.ReadResponse, read func(*M) (*A, error)) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := read(&m)
	if err != nil {
		Unreadable(ctx, object, P(&m).Identity(), err, resp)
		return
	}
	resp.Diagnostics.Append(P(&m).FromAPI(ctx, found)...)
	resp.Diagnostics.Append(Save(ctx, &resp.State, resp.Identity, &m, P(&m).Identity())...)
}

// Unreadable ends a Read that failed: gone means removed from the state, with a warning; settings that are unknown
// during a plan leave the state as it is; anything else is an error.
func Unreadable(ctx context.Context, object string, identity any, err error, resp *resource.ReadResponse) {
	var missing *client.UnconfiguredError
	switch {
	case client.IsNotFound(err):
		Gone(ctx, object, identity, resp)
	case errors.As(err, &missing):
		if missing.First {
			resp.Diagnostics.AddWarning("State Not Refreshed", "The provider's "+missing.Setting+" is not known yet, so objects in the state were not compared with the service. They are once "+missing.Setting+" is known.")
		}
		resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, identity)...)
	default:
		resp.Diagnostics.Append(apierror.For("read", object, err)...)
	}
}

// Gone removes an object from the state. Its identity is set first, without which an import of a missing object fails with another error.
func Gone(ctx context.Context, object string, identity any, resp *resource.ReadResponse) {
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, identity)...)
	resp.State.RemoveResource(ctx)
	title := strings.ToUpper(object[:1]) + object[1:]
	resp.Diagnostics.AddWarning(title+" Is Gone", fmt.Sprintf("The %s%s does not exist at the service any more, or is not visible to this key. It is removed from the state; the next apply creates it again if it is still configured.", object, idOf(ctx, resp)))
}

func idOf(ctx context.Context, resp *resource.ReadResponse) string {
	if resp.Identity == nil {
		return ""
	}
	var id *string
	if resp.Identity.GetAttribute(ctx, path.Root("id"), &id).HasError() || id == nil {
		return ""
	}
	return " " + *id
}

// Update runs update on the plan and the prior state and stores what it returns. Nil means that nothing was sent: the plan is stored as update left it.
func Update[M, A any, P interface {
	*M
	Model[A]
}](ctx context.Context, object string, req resource.UpdateRequest, resp *resource.UpdateResponse, update func(plan, state *M) (*A, error), options ...apierror.Option) {
	var plan, state M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	updated, err := update(&plan, &state)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("update", object, err, options...)...)
		return
	}
	if updated != nil {
		resp.Diagnostics.Append(P(&plan).FromAPI(ctx, updated)...)
	}
	resp.Diagnostics.Append(Save(ctx, &resp.State, resp.Identity, &plan, P(&plan).Identity())...)
}

// Delete runs remove on the prior state. What is gone already is deleted.
func Delete[M any](ctx context.Context, object string, req resource.DeleteRequest, resp *resource.DeleteResponse, remove func(*M) error) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := remove(&m); err != nil && !client.IsNotFound(err) {
		resp.Diagnostics.Append(apierror.For("delete", object, err)...)
	}
}

// Save stores an object's state and identity.
func Save(ctx context.Context, state *tfsdk.State, identity *tfsdk.ResourceIdentity, model, identityModel any) diag.Diagnostics {
	diags := state.Set(ctx, model)
	diags.Append(setIdentity(ctx, identity, identityModel)...)
	return diags
}

func setIdentity(ctx context.Context, identity *tfsdk.ResourceIdentity, model any) diag.Diagnostics {
	if identity == nil || model == nil {
		return nil
	}
	return identity.Set(ctx, model)
}

// ImportByID imports an object whose import ID is its "id" and whose identity is that attribute alone.
func ImportByID(ctx context.Context, object string, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if req.ID != "" && strings.ContainsAny(req.ID, "/ \t\n") {
		resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("The import ID of %s is its ID at the service, such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427, got: %q.", phrase.WithArticle(object), req.ID))
		return
	}
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("id"), path.Root("id"), req, resp)
}
