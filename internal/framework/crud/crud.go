// Package crud contains the steps around the API call of every Terraform object: decoding, error translation, missing
// objects, and state with identity. Schemas, defaults, timeouts, and request bodies belong to the object.
package crud

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
)

// Model is the model of a resource.
type Model[A any] interface {
	Identified
	// FromAPI sets every value that the service returns, and no others.
	FromAPI(context.Context, *A) diag.Diagnostics
}

// ModelOf is a pointer to a model of A's.
type ModelOf[M, A any] interface {
	*M
	Model[A]
}

// Identified is a model with an identity.
type Identified interface {
	// Identity returns the identity's model, or nil for an object without one.
	Identity() any
}

// Importable is a model that sets create-only arguments from the record after an import and in lists.
type Importable[A any] interface {
	FromImport(context.Context, *A) diag.Diagnostics
}

// ManagedResource is what every managed resource of the provider offers.
type ManagedResource interface {
	resource.ResourceWithConfigure
	resource.ResourceWithIdentity
	resource.ResourceWithImportState
	resource.ResourceWithModifyPlan // To report a wrong key, role, or URL.
}

// Resource sets the type name and client of a managed resource or a list resource. Embed it.
type Resource struct {
	Client *client.Client
	// Name is the type's name without the provider's prefix.
	Name string
	// MutableIdentity means that an update may change the identity.
	MutableIdentity bool
}

// Metadata sets the type's name.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.Name
	resp.ResourceBehavior.MutableIdentity = r.MutableIdentity
}

// Configure sets the client that the provider created.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.Client = configured(req.ProviderData, &resp.Diagnostics)
}

// object is the resource's name within a sentence.
func (r *Resource) object() string { return words.Replace(r.Name) }

var words = strings.NewReplacer("api_", "API ", "_", " ")

// Ephemeral sets the type name and client of an ephemeral resource. Embed it.
type Ephemeral struct {
	Client *client.Client
	// Name is the type's name without the provider's prefix.
	Name string
}

// Metadata sets the type's name.
func (e *Ephemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + e.Name
}

// Configure sets the client that the provider created.
func (e *Ephemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.Client = configured(req.ProviderData, &resp.Diagnostics)
}

// unconfigured is the client before the provider is configured. Its calls return an error.
var unconfigured = sync.OnceValue(func() *client.Client { return client.Unconfigured("", clock.System) })

func configured(data any, diags *diag.Diagnostics) *client.Client {
	if data == nil {
		return unconfigured()
	}
	c, ok := data.(*client.Client)
	if !ok {
		diags.AddError("Provider not configured", fmt.Sprintf("The provider passed a %T instead of a client. This is a bug in the provider. Please report it.", data))
	}
	return c
}

// WithTimeout returns ctx with the timeout that a timeouts block sets for an operation, and when it ends by the provider's clock.
func WithTimeout(ctx context.Context, c *client.Client,
	timeout func(context.Context, time.Duration) (time.Duration, diag.Diagnostics), byDefault time.Duration,
) (context.Context, context.CancelFunc, time.Time, diag.Diagnostics) {
	most, diags := timeout(ctx, byDefault)
	deadline := c.Conn.Clock.Now().Add(most)
	ctx, stop := context.WithTimeout(ctx, most)
	return ctx, stop, deadline, diags
}

// Create runs create on the plan, and stores and returns the model and the record; nil if something failed. What is known in the
// plan stays as planned.
func Create[M, A any, P ModelOf[M, A]](ctx context.Context, r *Resource, req resource.CreateRequest, resp *resource.CreateResponse,
	create func(context.Context, *M) (*A, error), options ...apierror.Option,
) (*M, *A) {
	m := new(M)
	resp.Diagnostics.Append(req.Plan.Get(ctx, m)...)
	if resp.Diagnostics.HasError() {
		return nil, nil
	}
	createCtx, warnOfFound := WithFound(ctx)
	made, err := create(createCtx, m)
	if err != nil {
		resp.Diagnostics.Append(explain("create", r.object(), err, options)...)
		return nil, nil
	}
	resp.Diagnostics.Append(StoreAsPlanned(ctx, &resp.State, resp.Identity, req.Plan.Raw, P(m), made)...)
	resp.Diagnostics.Append(RecordReader(ctx, r.Client, resp.Private)...)
	resp.Diagnostics.Append(warnOfFound()...)
	if resp.Diagnostics.HasError() {
		return nil, nil
	}
	return m, made
}

// Read stores the result of read, or removes a missing object from the state with a warning.
func Read[M, A any, P ModelOf[M, A]](ctx context.Context, r *Resource, req resource.ReadRequest, resp *resource.ReadResponse,
	read func(*M) (*A, error), options ...apierror.Option,
) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := read(&m)
	if err != nil {
		HandleFailedRead(ctx, r, P(&m), err, resp, options...)
		return
	}
	resp.Diagnostics.Append(P(&m).FromAPI(ctx, found)...)
	if privatestate.IsImportUnread(ctx, resp.Private) {
		if imported, ok := any(P(&m)).(Importable[A]); ok {
			resp.Diagnostics.Append(imported.FromImport(ctx, found)...)
		}
	}
	resp.Diagnostics.Append(privatestate.MarkImportRead(ctx, resp.Private)...)
	resp.Diagnostics.Append(RecordReader(ctx, r.Client, resp.Private)...)
	resp.Diagnostics.Append(Save(ctx, &resp.State, resp.Identity, P(&m))...)
}

// Update runs update on the plan and the prior state, and stores and returns the plan's model; nil if something failed. A nil result
// means that nothing was sent, and the plan is stored. What is known in the plan stays as planned, even if it has changed since.
func Update[M, A any, P ModelOf[M, A]](ctx context.Context, r *Resource, req resource.UpdateRequest, resp *resource.UpdateResponse,
	update func(plan, state *M) (*A, error), options ...apierror.Option,
) *M {
	plan, state := new(M), new(M)
	resp.Diagnostics.Append(req.Plan.Get(ctx, plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	if resp.Diagnostics.HasError() {
		return nil
	}
	updated, err := update(plan, state)
	if err != nil {
		resp.Diagnostics.Append(explain("update", r.object(), err, options)...)
		return nil
	}
	if updated != nil {
		resp.Diagnostics.Append(P(plan).FromAPI(ctx, updated)...)
	}
	resp.Diagnostics.Append(Save(ctx, &resp.State, resp.Identity, P(plan))...)
	if updated == nil {
		FillFromPrior(&resp.State, req.State.Raw)
	}
	KeepPlanned(&resp.State, req.Plan.Raw)
	if resp.Diagnostics.HasError() {
		return nil
	}
	// Terraform keeps the private state even if the update failed, so it must no longer mark anything as adopted.
	resp.Diagnostics.Append(privatestate.ForgetImport(ctx, resp.Private)...)
	return plan
}

// KeepPlanned sets what is known in the plan to its planned value, because Terraform rejects any other, and after a creation
// replaces the object. What the service stored instead is the difference that the next refresh shows.
func KeepPlanned(state *tfsdk.State, plan tftypes.Value) {
	state.Raw = knownOr(plan, state.Raw)
}

// FillFromPrior sets what is unknown in a state to its prior value: what the plan leaves open did not change, or could not be read.
func FillFromPrior(state *tfsdk.State, prior tftypes.Value) {
	state.Raw = knownOr(state.Raw, prior)
}

// knownOr returns a value with what is unknown in it, or in an object in it, taken from another value.
func knownOr(value, other tftypes.Value) tftypes.Value {
	if value.IsFullyKnown() {
		return value
	}
	var parts, rest map[string]tftypes.Value
	if !value.IsKnown() || !value.Type().Is(tftypes.Object{}) || value.As(&parts) != nil || other.As(&rest) != nil || rest == nil {
		return other
	}
	for name, part := range parts {
		rest[name] = knownOr(part, rest[name])
	}
	return tftypes.NewValue(other.Type(), rest)
}

// Delete runs remove on the prior state. Its errors name the object, because Terraform does not show its address with them.
func Delete[M any](ctx context.Context, r *Resource, req resource.DeleteRequest, resp *resource.DeleteResponse, remove func(*M) error, options ...apierror.Option) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	err := remove(&m)
	object, id := r.object(), attributeOf(ctx, req.State, "id")
	switch {
	case collection.IsGone(err):
		resp.Diagnostics.Append(NotVisibleError(ctx, r, "delete", id, &m, req.Private)...)
		if reader := otherReader(ctx, r.Client, req.Private); reader != "" && !resp.Diagnostics.HasError() {
			resp.Diagnostics.AddWarning(title(object)+" not found", fmt.Sprintf("The %s %s was not found, so it is removed from the state. %s "+
				"If that key belongs to another organization, the %s still exists there.", object, id, reader, object))
		}
	case err != nil:
		which := wire.Ref{Name: attributeOf(ctx, req.State, "name"), ID: id}
		resp.Diagnostics.Append(apierror.For("delete", object, fmt.Errorf("deleting the %s %s: %w", object, which, err), options...)...)
	}
}

// attributeOf returns a string attribute of a state, or an empty string.
func attributeOf(ctx context.Context, state tfsdk.State, name string) string {
	var v types.String
	if state.GetAttribute(ctx, path.Root(name), &v).HasError() {
		return ""
	}
	return v.ValueString()
}

// StoreAsPlanned sets a model's values from a record and saves its state and identity. What is known in the plan stays as planned.
func StoreAsPlanned[A any](ctx context.Context, state *tfsdk.State, identity *tfsdk.ResourceIdentity, plan tftypes.Value, model Model[A], record *A) diag.Diagnostics {
	diags := model.FromAPI(ctx, record)
	diags.Append(Save(ctx, state, identity, model)...)
	KeepPlanned(state, plan)
	return diags
}

// Save stores state and identity. Null attributes get their defaults.
func Save(ctx context.Context, state *tfsdk.State, identity *tfsdk.ResourceIdentity, model Identified) diag.Diagnostics {
	diags := state.Set(ctx, model)
	setDefaults(ctx, state.Schema, &state.Raw)
	diags.Append(setIdentity(ctx, identity, model)...)
	return diags
}

func setIdentity(ctx context.Context, identity *tfsdk.ResourceIdentity, model Identified) diag.Diagnostics {
	if identity == nil || model.Identity() == nil {
		return nil
	}
	return identity.Set(ctx, model.Identity())
}

// DeletionProtection returns the attribute deletion_protection. The guide says what it does not prevent.
func DeletionProtection(object string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(false),
		MarkdownDescription: fmt.Sprintf("Whether to refuse to destroy or replace the %s. Defaults to `false`. See [Deletion protection](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/sharing-computers#deletion-protection).", object),
	}
}

// Protected returns the error of a protected object that would be destroyed or replaced. Name and id identify it; either may be empty.
func Protected(object, name, id, hint string) (summary, detail string) {
	return "Cannot destroy protected " + object, phrase.Join(
		fmt.Sprintf("%s %s has deletion_protection = true in the state, so it cannot be destroyed or replaced.", title(object), wire.Ref{Name: name, ID: id}),
		"To allow this, keep it in the configuration, set deletion_protection = false and apply. Then destroy or replace it.", hint,
		"If Terraform calls it a deposed object, its replacement exists already. To keep the protected object, run terraform state rm ADDRESS, import it, and delete the replacement. "+
			"To keep the replacement, delete the protected object at the service, then apply again.")
}

// The second paragraph of an object's description says what it requires of the API key. On a page, it precedes the example.
const (
	Requires     = "\n\n**Requires:** "
	ManagerRole  = "[Manager role](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/teams-and-keys#which-key-for-what)"
	ManagersOnly = Requires + "the " + ManagerRole + "."
	AnyKey       = Requires + "any API key (assumption [`any-key`](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence))."
)

// Concepts is a paragraph in the description of each object whose relation to others is not plain.
const Concepts = "\n\n**Concepts.** [What the objects are](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/getting-started#what-the-objects-are) shows how computers, environments, and sessions belong together."

// WeakEvidence is a paragraph in the description of each object whose operations the contract marks with x-beyond.
const WeakEvidence = "\n\n~> **Undocumented operations.** The service's API documents do not describe the operations used here, so the service may behave differently. See [Evidence](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence)."

// AssumedFormat is a paragraph in the description of each object whose records or requests the documents do not show in full.
const AssumedFormat = "\n\n-> **Assumed format.** The service's API documents do not show this data in full, so parts of its format are assumptions. See [Evidence](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence)."

// Assumed returns the end of a sentence that rests on an assumption of the contract.
func Assumed(id string) string {
	return " (assumption [`" + id + "`](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence))."
}

// ManagersAssumed is ManagersOnly where only an assumption of the contract says so.
func ManagersAssumed(id string) string { return Requires + "the " + ManagerRole + Assumed(id) }

// WholeRecord describes the attribute raw_json of such a record in a data source.
const WholeRecord = "The service's record, as normalized JSON. It also contains fields without an attribute."
