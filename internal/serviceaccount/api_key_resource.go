package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ resource.ResourceWithConfigure      = (*apiKeyResource)(nil)
	_ resource.ResourceWithIdentity       = (*apiKeyResource)(nil)
	_ resource.ResourceWithImportState    = (*apiKeyResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*apiKeyResource)(nil)
	_ resource.ResourceWithValidateConfig = (*apiKeyResource)(nil)
)

const (
	maxKeyName      = 128
	maxGraceMinutes = 10
	durationForms   = "A duration such as `90m`, `720h`, `30d` or `2w`"
)

// keyDurations show how long keys usually live.
var keyDurations = []string{"90m", "720h", "30d", "2w"}

// apiKeyFields says where an error about a field of the API is shown.
var apiKeyFields = apierror.Fields{
	"name": path.Root("name"), "expiresAt": path.Root("expires_at"), "gracePeriodMinutes": path.Root("rotation").AtName("grace_period_minutes"),
}

// existingKey says what to do about a live key of the same name.
var existingKey = apierror.Existing(func(e *create.ExistsError) string {
	return fmt.Sprintf("If an interrupted run created it, revoke it: terraform apply -invoke=action.agentyard_api_key_revoke.NAME, with key_id = %q.", e.ID)
})

// NewAPIKeyResource returns the resource agentyard_api_key.
func NewAPIKeyResource() resource.Resource { return &apiKeyResource{} }

type apiKeyResource struct{ crud.Resource }

type apiKeyModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	Name             types.String `tfsdk:"name"`
	ExpiresAt        types.String `tfsdk:"expires_at"`
	ExpiresIn        types.String `tfsdk:"expires_in"`
	Rotation         types.Object `tfsdk:"rotation"`
	ID               types.String `tfsdk:"id"`
	Key              types.String `tfsdk:"key"`
	Fingerprint      types.String `tfsdk:"fingerprint"`
	CreatedAt        types.String `tfsdk:"created_at"`
	RotatedAt        types.String `tfsdk:"rotated_at"`
	NextRotationAt   types.String `tfsdk:"next_rotation_at"`
	IsRevoked        types.Bool   `tfsdk:"is_revoked"`
	RevokedAt        types.String `tfsdk:"revoked_at"`
	PreviousKeyID    types.String `tfsdk:"previous_key_id"`
}

type apiKeyIdentity struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	ID               types.String `tfsdk:"id"`
}

// FromAPI takes over a record of a listing. It never has the key's value, so that is kept as it is.
func (m *apiKeyModel) FromAPI(ctx context.Context, k *serviceaccounts.APIKey) diag.Diagnostics {
	m.ServiceAccountID, m.ID, m.Name = types.StringValue(k.AccountID), types.StringValue(k.ID), types.StringValue(k.Name)
	m.Fingerprint = value.StringOrNull(k.Fingerprint)
	// The time of creation that a mint told is that of its answer, to the second.
	if known := parseTime(m.CreatedAt); known.IsZero() || known.Sub(k.CreatedAt.Time()).Abs() >= sameCreation {
		m.CreatedAt = value.Time(k.CreatedAt.Time())
	}
	m.setExpiry(k.ExpiresAt.Time())
	m.IsRevoked = types.BoolValue(k.IsRevoked)
	m.RevokedAt = value.Time(k.RevokedAt.Time())
	settings, _, diags := m.settings(ctx)
	due, _ := nextRotation(parseTime(m.CreatedAt), settings.expiresAt, settings.interval, settings.beforeExpiry)
	m.NextRotationAt = value.Time(due)
	return diags
}

// setMinted takes over a new key. Where the answer tells no time of creation, now serves for the time until a listing does.
func (m *apiKeyModel) setMinted(ctx context.Context, k *serviceaccounts.MintedAPIKey, now time.Time) diag.Diagnostics {
	m.ID, m.Key, m.Fingerprint = types.StringValue(k.ID), types.StringValue(k.Value), value.StringOrNull(k.Fingerprint)
	if !m.ExpiresAt.IsNull() { // An expiry that the service sets although none is planned is taken by the next refresh.
		m.setExpiry(k.ExpiresAt.Time())
	}
	m.CreatedAt, m.IsRevoked, m.RevokedAt = value.Time(k.CreatedAt.Time()), types.BoolValue(false), types.StringNull()
	if k.CreatedAt != 0 {
		now = k.CreatedAt.Time()
	}
	settings, _, diags := m.settings(ctx)
	due, _ := nextRotation(now, settings.expiresAt, settings.interval, settings.beforeExpiry)
	m.NextRotationAt = value.Time(due)
	return diags
}

// setExpiry keeps the spelling of an expiry that is the same.
func (m *apiKeyModel) setExpiry(at time.Time) {
	if known := parseTime(m.ExpiresAt); !at.IsZero() && !known.IsZero() && known.Sub(at).Abs() < sameExpiry {
		return
	}
	m.ExpiresAt = value.Time(at)
}

// Identity is the account's ID and the key's, of which the second one changes with every rotation.
func (m *apiKeyModel) Identity() any {
	return &apiKeyIdentity{ServiceAccountID: m.ServiceAccountID, ID: m.ID}
}

// request asks for a key that is made now.
func (m *apiKeyModel) request(now time.Time) serviceaccounts.NewAPIKey {
	n := serviceaccounts.NewAPIKey{AccountID: m.ServiceAccountID.ValueString(), Name: m.Name.ValueString(), ExpiresAt: parseTime(m.ExpiresAt), Lifetime: parseDuration(m.ExpiresIn)}
	if n.Lifetime != 0 {
		n.ExpiresAt = now.Add(n.Lifetime)
	}
	return n
}

// Metadata declares that a rotation changes the identity, which is the key's ID; without it an apply fails after the rotation was done.
func (r *apiKeyResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_api_key"
	resp.ResourceBehavior = resource.ResourceBehavior{MutableIdentity: true}
}

func (r *apiKeyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	result := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "An API key of a service account, rotated in place. A rotation that is due shows in the plan as an update with a new `id`, `key` and `fingerprint`, " +
			"so that everything that uses the key is planned with it. Destroying the resource revokes the key, and the one that lives out its grace period. " +
			"A key that was revoked or deleted elsewhere, or that has expired, is replaced in place by a newly minted one. " +
			"The service shows the value once, so it is kept in the state; for a key that is in no state, see the ephemeral resource of the same name." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the service account that the key authenticates as. A change replaces the key.",
				Validators:          []validator.String{value.NotEmpty()},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"name": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "Name of the key, 1 to 128 characters. A rotation keeps it. Creating a key stops with an error where the account has a live key of this name, such as one that an interrupted run created. " +
					"For the same reason `create_before_destroy` cannot replace a key by one of the same name; use `rotation.triggers`. A change replaces the key.",
				Validators:    []validator.String{value.Length(1, maxKeyName)},
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"expires_at": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "When the key stops authenticating (RFC 3339), in the future. A change rotates the key, as removing it does. Every rotation keeps this time, so a key that is rotated by time should have `expires_in`. Conflicts with `expires_in`. Null if the key never expires.",
				Validators:          []validator.String{value.RFC3339(), stringvalidator.ConflictsWith(path.MatchRoot("expires_in"))},
			},
			"expires_in": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: durationForms + " for which the key lives, counted anew from each mint and rotation. A change rotates the key, as removing it does; after an import it is adopted for the next rotation. Conflicts with `expires_at`.",
				Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
			},
			"rotation": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "When the key is rotated: at least one of `triggers`, `interval` and `before_expiry`, without which it would never rotate the key by itself. If omitted, the key is rotated only when its expiry is changed, and replaced when it is dead. Rotations happen in `apply`, so run it more often than keys come due. A key that was imported without its value is rotated once.",
				Attributes: map[string]schema.Attribute{
					"triggers": schema.MapAttribute{
						Optional: true, ElementType: types.StringType,
						MarkdownDescription: "Any values; the key is rotated when they change, and when they are added. Removing all of them rotates nothing.",
					},
					"interval": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: durationForms + " from `created_at`, after which the key is due.",
						Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
					},
					"before_expiry": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: durationForms + " before the expiry, from which on the key is due. Shorter than the key's life, and not shorter than the grace period. Without `interval` it needs `expires_in` or `expires_at`.",
						Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
					},
					"grace_period_minutes": schema.Int64Attribute{
						Optional: true,
						MarkdownDescription: "How long the old key still authenticates after a rotation, whatever caused it, 0 to 10 minutes; null means that it stops at once. " +
							"For a grace period after a changed expiry alone, `rotation` needs a trigger that never changes, such as `triggers = { v = \"1\" }`. The old key must not expire within that time. " +
							"Only one previous key lives on: a rotation within a grace period revokes the older key.",
						Validators: []validator.Int64{int64validator.Between(0, maxGraceMinutes)},
					},
				},
			},
			"id":               result("The present key's ID. A rotation changes it."),
			"key":              schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key's value. Null after an import, because the service shows a value once; a rotation gives one."},
			"fingerprint":      result("Identifies the key's value without showing it."),
			"created_at":       result("When the present key was minted (RFC 3339, UTC)."),
			"rotated_at":       result("When the key was last rotated, or replaced because it was dead (RFC 3339, UTC); null until the first time."),
			"next_rotation_at": result("When the key is due by `rotation` (RFC 3339, UTC); null if it never is by time. Within 15 minutes before it, any other change rotates the key too."),
			"is_revoked":       schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the key was revoked or deleted elsewhere. A key that has expired is dead too, without being revoked."},
			"revoked_at":       result("When the key was revoked (RFC 3339, UTC); null if it is not."),
			"previous_key_id":  result("ID of the key before, while it lives out its grace period, else null."),
		},
	}
}

func (r *apiKeyResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"service_account_id": identityschema.StringAttribute{RequiredForImport: true, Description: "ID of the service account."},
		"id":                 identityschema.StringAttribute{RequiredForImport: true, Description: "The present key's ID. A rotation changes it."},
	}}
}

// ValidateConfig finds what is wrong with the arguments at any time.
func (r *apiKeyResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config apiKeyModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	settings, _, diags := config.settings(ctx)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(problemDiagnostics(settings.check(config.ExpiresAt.IsUnknown() || config.ExpiresIn.IsUnknown()))...)
}

// ModifyPlan shows in the plan what an apply does with the key.
func (r *apiKeyResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.Plan.Raw.IsNull():
		resp.Diagnostics.Append(r.planDestruction(ctx, &req, resp)...)
	case req.State.Raw.IsNull():
		resp.Diagnostics.Append(r.planCreation(ctx, &req, resp)...)
	default:
		resp.Diagnostics.Append(r.planUpdate(ctx, &req, resp)...)
	}
}

func (r *apiKeyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m, config apiKeyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	made, err := r.Client.ServiceAccounts.CreateKey(ctx, m.request(r.now()))
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", "API key", err, apiKeyFields, existingKey)...)
		return
	}
	m.RotatedAt, m.PreviousKeyID = types.StringNull(), types.StringNull()
	resp.Diagnostics.Append(m.setMinted(ctx, made, r.now())...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
	resp.Diagnostics.Append(markExpiry(ctx, resp.Private, &config)...)
}

// Read finds the key in the listing of its account. One that is missing while its account exists is dead, and stays in
// the state as such: its successor is minted in place, so that what depends on it is updated and not replaced.
func (r *apiKeyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m apiKeyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	imported := adopt.Unread(ctx, resp.Private)
	found, err := r.Client.ServiceAccounts.GetKey(ctx, m.ServiceAccountID.ValueString(), m.ID.ValueString())
	if err == nil && !m.PreviousKeyID.IsNull() {
		m.PreviousKeyID, err = r.stillLive(ctx, &m)
	}
	switch {
	case err != nil:
		crud.Unreadable(ctx, r.Client, "API key", &m, err, resp)
		return
	case found != nil:
		resp.Diagnostics.Append(m.FromAPI(ctx, found)...)
	case imported:
		crud.Gone(ctx, r.Client, "API key", &m, resp)
		return
	default:
		m.IsRevoked = types.BoolValue(true)
	}
	resp.Diagnostics.Append(adopt.Read(ctx, resp.Private)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
}

// Update replaces the key where the plan does not know its ID, and else only takes the configuration over.
func (r *apiKeyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, state, config apiKeyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	known, diags := state.keyState(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	settings, _, diags := m.settings(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if !m.ID.IsUnknown() {
		resp.Diagnostics.Append(r.store(ctx, &m, &config, resp)...)
		return
	}
	verb, previous := "rotate", state.ID
	if known.isDead(r.now()) {
		verb, previous = "replace", state.PreviousKeyID
	}
	made, err := r.renew(ctx, &state, m.request(r.now()), verb, serviceaccounts.Renewal{
		ID: state.ID.ValueString(), Spares: previous.ValueString(), Revokes: getSuccessor(ctx, req.Private), GraceMinutes: int64(settings.grace / time.Minute),
	})
	if err != nil {
		resp.Diagnostics.Append(rotationError(verb, err, settings.grace)...)
		return
	}
	if verb == "rotate" && settings.grace == 0 {
		previous = types.StringNull()
	}
	m.PreviousKeyID, m.RotatedAt = previous, value.Time(r.now())
	if made.CreatedAt != 0 {
		m.RotatedAt = value.Time(made.CreatedAt.Time())
	}
	resp.Diagnostics.Append(m.setMinted(ctx, made, r.now())...)
	resp.Diagnostics.Append(r.store(ctx, &m, &config, resp)...)
}

// store saves an update. The marks follow the state: what a failed update left of them would speak of what it did not do.
func (r *apiKeyResource) store(ctx context.Context, m, config *apiKeyModel, resp *resource.UpdateResponse) diag.Diagnostics {
	diags := crud.Save(ctx, &resp.State, resp.Identity, m, m.Identity())
	if diags.HasError() {
		return diags
	}
	diags.Append(markExpiry(ctx, resp.Private, config)...)
	diags.Append(setSuccessor(ctx, resp.Private, nil)...)
	diags.Append(adopt.Done(ctx, resp.Private)...)
	return diags
}

// Delete revokes the key, the one before it, and what an interrupted rotation of it left.
func (r *apiKeyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m apiKeyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	settings, _, diags := m.settings(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	doomed := []string{m.ID.ValueString(), m.PreviousKeyID.ValueString(), getSuccessor(ctx, req.Private)}
	if m.IsRevoked.ValueBool() || settings.grace > 0 {
		others, err := r.others(ctx, &m, doomed)
		if err != nil && !transport.IsGone(err) {
			resp.Diagnostics.Append(apierror.For("revoke", "API key", crud.About("revoking", "API key", crud.Which(m.Name.ValueString(), m.ID.ValueString()), err))...)
			return
		}
		for _, k := range others {
			resp.Diagnostics.AddWarning("Another Live API Key of the Same Name", fmt.Sprintf("API key %s (%q, created at %s) of service account %s was made after the key that was destroyed and is in this state no longer, if it ever was. "+
				"If an interrupted run created it, revoke it: with the action agentyard_api_key_revoke and key_id = %q, or at the service.", k.ID, k.Name, k.CreatedAt.Time().Format(time.RFC3339), k.AccountID, k.ID))
		}
	}
	for _, id := range doomed {
		if id == "" {
			continue
		}
		which := crud.Which(m.Name.ValueString(), id)
		err := r.Client.ServiceAccounts.RevokeExistingKey(ctx, m.ServiceAccountID.ValueString(), id)
		if err != nil && !transport.IsGone(err) {
			resp.Diagnostics.Append(apierror.For("revoke", "API key", crud.About("revoking", "API key", which, err))...)
			return
		}
	}
}

// ImportState takes service_account_id/key_id, or the identity. It says once that values are missing: Terraform does not
// fold the warnings of an import, and a plan repeats none, because the null value may well be meant.
func (r *apiKeyResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var id apiKeyIdentity
	if req.ID == "" {
		resp.Diagnostics.Append(req.Identity.Get(ctx, &id)...)
	} else {
		account, key, ok := strings.Cut(req.ID, "/")
		if !ok || account == "" || key == "" || strings.ContainsAny(key, "/ \t\n") || strings.ContainsAny(account, " \t\n") {
			resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("The import ID of an API key is service_account_id/key_id, such as sa_01/key_01, got: %q.", req.ID))
			return
		}
		id.ServiceAccountID, id.ID = types.StringValue(account), types.StringValue(key)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("service_account_id"), id.ServiceAccountID)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id.ID)...)
	if resp.Identity != nil {
		resp.Diagnostics.Append(resp.Identity.Set(ctx, &id)...)
	}
	resp.Diagnostics.Append(adopt.Imported(ctx, resp.Private)...)
	resp.Diagnostics.AddWarning("API Key Imported Without Its Value", fmt.Sprintf("The service shows the value of a key only once, so the attribute key of %s is null. "+
		"To get a value, add a rotation block, such as rotation = { triggers = { imported = \"1\" } }: the next apply rotates the key, and what uses the old value stops working after the grace period.", id.ID.ValueString()))
}

// renew makes the next key. Only one previous key lives on, so an older one that is still in its grace period ends before a rotation.
func (r *apiKeyResource) renew(ctx context.Context, state *apiKeyModel, n serviceaccounts.NewAPIKey, verb string, old serviceaccounts.Renewal) (*serviceaccounts.MintedAPIKey, error) {
	if previous := state.PreviousKeyID.ValueString(); previous != "" && verb == "rotate" {
		if err := r.Client.ServiceAccounts.RevokeExistingKey(ctx, n.AccountID, previous); err != nil && !transport.IsGone(err) {
			return nil, err
		}
	}
	return r.Client.ServiceAccounts.RenewKey(ctx, n, old)
}

// stillLive is the ID of the previous key while it lives out its grace period, or null.
func (r *apiKeyResource) stillLive(ctx context.Context, m *apiKeyModel) (types.String, error) {
	previous, err := r.Client.ServiceAccounts.GetKey(ctx, m.ServiceAccountID.ValueString(), m.PreviousKeyID.ValueString())
	if err != nil || previous == nil || !previous.IsLive(r.now()) {
		return types.StringNull(), err
	}
	return m.PreviousKeyID, nil
}

// others returns the live keys of the name that are newer than this one and are not among the given IDs.
func (r *apiKeyResource) others(ctx context.Context, m *apiKeyModel, known []string) ([]serviceaccounts.APIKey, error) {
	keys, err := r.Client.ServiceAccounts.KnownKeysNamed(ctx, m.ServiceAccountID.ValueString(), m.Name.ValueString())
	return slices.DeleteFunc(keys, func(k serviceaccounts.APIKey) bool {
		return slices.Contains(known, k.ID) || !k.IsLive(r.now()) || k.CreatedAt.Time().Before(parseTime(m.CreatedAt))
	}), err
}

// rotationError explains a refusal that does not name the argument at fault.
func rotationError(verb string, err error, grace time.Duration) diag.Diagnostics {
	diags := apierror.For(verb, "API key", err, apiKeyFields, existingKey)
	var rotated *serviceaccounts.RotatedError
	if verb == "rotate" && grace > 0 && transport.StatusOf(err) == http.StatusBadRequest && !errors.As(err, &rotated) {
		diags.AddAttributeWarning(path.Root("rotation").AtName(fieldGrace), "Grace Period May Be the Cause",
			"The service refuses a rotation whose grace period is longer than the old key lives. Shorten grace_period_minutes, or wait until the key has expired: a new one is minted then.")
	}
	return diags
}

func (r *apiKeyResource) now() time.Time { return r.Client.Conn.Clock.Now() }

// parseTime is the zero time for what is null, unknown or no time.
func parseTime(s types.String) time.Time {
	at, err := time.Parse(time.RFC3339, s.ValueString())
	if err != nil {
		return time.Time{}
	}
	return at
}

// parseDuration is 0 for what is null, unknown or no duration; a validator has refused the last.
func parseDuration(s types.String) time.Duration {
	d, err := clock.ParseDuration(s.ValueString())
	if err != nil {
		return 0
	}
	return d
}
