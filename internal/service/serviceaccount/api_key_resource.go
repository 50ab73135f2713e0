package serviceaccount

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var (
	_ crud.ManagedResource                = (*apiKeyResource)(nil)
	_ resource.ResourceWithValidateConfig = (*apiKeyResource)(nil)
)

const (
	maxKeyName      = 128
	maxGraceMinutes = 10
	durationForms   = " Must be a duration such as `90m`, `720h`, `30d`, or `2w`."
)

// keyDurations are examples for the errors of validators.
var keyDurations = []string{"90m", "720h", "30d", "2w"}

var existingKey = apierror.Existing(func(e wire.Ref) string {
	return fmt.Sprintf("If an interrupted run created it, revoke it with the action or resource agentyard_api_key_revoke and key_id = %q.", e.ID)
})

// existingRenewal is for a key that prevents a renewal: the address of the old key is in use.
var existingRenewal = apierror.Existing(func(e wire.Ref) string {
	return "Before an import, run terraform state rm ADDRESS, because the state contains the old key. With rotation, the apply after the import rotates the key, and grace_period_minutes says how long the imported key still works.\n" + existingKey(e) + "\nTo leave it alone and create another key, change name."
})

// NewAPIKeyResource returns the resource agentyard_api_key. A rotation changes its identity.
func NewAPIKeyResource() resource.Resource {
	return &apiKeyResource{crud.Resource{Name: "api_key", MutableIdentity: true}}
}

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

// FromAPI keeps the key's value, because no list response contains it.
func (m *apiKeyModel) FromAPI(ctx context.Context, k *serviceaccounts.APIKey) diag.Diagnostics {
	m.ServiceAccountID, m.ID = types.StringValue(k.AccountID), types.StringValue(k.ID)
	if !wire.SameText(m.Name.ValueString(), k.Name) {
		m.Name = types.StringValue(k.Name)
	}
	m.Fingerprint = value.StringOrNull(k.Fingerprint)
	// The create response rounds the time to the second.
	if inState := parseTime(m.CreatedAt); inState.IsZero() || !isSameCreation(inState, k.CreatedAt.Time()) {
		m.CreatedAt = value.Time(k.CreatedAt.Time())
	}
	m.setExpiry(k.ExpiresAt.Time())
	m.IsRevoked = types.BoolValue(k.IsRevoked)
	m.RevokedAt = value.Time(k.RevokedAt.Time())
	settings, diags := m.settings(ctx)
	m.NextRotationAt = value.Time(settings.nextRotation(parseTime(m.CreatedAt), settings.expiresAt))
	return diags
}

// setMinted uses the current time for the next rotation if the response has no creation time.
func (m *apiKeyModel) setMinted(k *serviceaccounts.MintedAPIKey, settings keySettings, now time.Time) {
	m.ID, m.Key, m.Fingerprint = types.StringValue(k.ID), types.StringValue(k.Value), value.StringOrNull(k.Fingerprint)
	if m.ExpiresAt.IsUnknown() { // The next refresh shows an expiry other than the planned one.
		m.setExpiry(k.ExpiresAt.Time())
	}
	m.CreatedAt, m.IsRevoked, m.RevokedAt = value.Time(k.CreatedAt.Time()), types.BoolValue(false), types.StringNull()
	m.NextRotationAt = value.Time(settings.nextRotation(cmp.Or(k.CreatedAt.Time(), now), parseTime(m.ExpiresAt)))
}

// setExpiry keeps the configured spelling of the same time.
func (m *apiKeyModel) setExpiry(at time.Time) {
	if inState := parseTime(m.ExpiresAt); at.IsZero() || inState.IsZero() || inState.Sub(at).Abs() >= sameExpiry {
		m.ExpiresAt = value.Time(at)
	}
}

func (m *apiKeyModel) Identity() any {
	return &apiKeyIdentity{ServiceAccountID: m.ServiceAccountID, ID: m.ID}
}

func (m *apiKeyModel) request() serviceaccounts.NewAPIKey {
	return serviceaccounts.NewAPIKey{AccountID: m.ServiceAccountID.ValueString(), Name: m.Name.ValueString(), ExpiresAt: parseTime(m.ExpiresAt), ExpiresIn: parseDuration(m.ExpiresIn)}
}

func (r *apiKeyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	result := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages an API key of a service account, and rotates it in place." + crud.ManagersOnly + "\n\n" +
			"~> The state contains the key's value, because the service returns it only once. For a key that is never stored, use the [ephemeral resource](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/ephemeral-resources/api_key).\n\n" +
			"**Rotation.** The plan shows a due rotation as an update with a new `id`, `key`, and `fingerprint`, so everything that uses the key is updated too. " +
			"A key that has expired, or was revoked or deleted elsewhere, is also replaced in place. See [Rotating API keys](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/api-key-rotation).\n\n" +
			"**Destroy.** Destroying the resource revokes the key. Old keys in their grace periods are revoked too, which should end these periods" + crud.Assumed("revoke-api-key") + " A live key that somebody else created with the name is not revoked." + crud.AssumedFormat,
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the service account that the key authenticates as. Changing this forces a new API key.",
				Validators:          []validator.String{value.NotEmpty()},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"name": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "Name of the key. The service should accept 1–128 characters" + crud.Assumed("create-api-key") + " The provider refuses the name of another live key of the account. Changing this forces a new API key. " +
					"With `create_before_destroy`, a replacement needs another name; to renew a key, use `rotation.triggers`.",
				Validators:    []validator.String{value.Length(1, maxKeyName)},
				PlanModifiers: []planmodifier.String{modifier.KeepEqual(wire.SameText, "Trailing whitespace is ignored."), stringplanmodifier.RequiresReplace()},
			},
			"expires_at": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "When the key expires (RFC 3339). Must be in the future. Conflicts with `expires_in`. Changing or removing this rotates the key. " +
					"A rotation does not extend it; for scheduled rotations, use `expires_in`. Null if the key has no expiry.",
				Validators: []validator.String{value.RFC3339(), stringvalidator.ConflictsWith(path.MatchRoot("expires_in"))},
			},
			"expires_in": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "How long the key lives, counted from its creation and from each rotation." + durationForms + " Conflicts with `expires_at`. Changing or removing this rotates the key" + crud.Assumed("rotate-api-key-body") + " " +
					"After an import, the configured value is adopted and applies from the next rotation.",
				Validators: []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
			},
			"rotation": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "When to rotate the key. Terraform ignores misspelled names here, so compare the plan with what you wrote. At least one of `triggers`, `interval`, or `before_expiry` is required. If omitted, only a changed expiry rotates the key. " +
					"With it, the first apply after an import rotates the key once, to get its value. " +
					"Only an apply rotates a key, so apply more often than keys become due.",
				Attributes: map[string]schema.Attribute{
					"triggers": schema.MapAttribute{
						Optional: true, ElementType: types.StringType,
						MarkdownDescription: "Arbitrary names and values, such as `{ rotation = \"1\" }`. Adding, changing, or removing an entry rotates the key. Removing all entries does not.",
					},
					"interval": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Time after `created_at` at which the key becomes due." + durationForms + " Must be shorter than the key's life.",
						Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
					},
					"before_expiry": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Time before the expiry at which the key becomes due." + durationForms + " Must be shorter than the key's life, and at least the grace period. Requires `expires_in`.",
						Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...), stringvalidator.AlsoRequires(path.MatchRoot("expires_in"))},
					},
					"grace_period_minutes": schema.Int64Attribute{
						Optional: true,
						MarkdownDescription: "How long the old key keeps working after a rotation, in minutes. The service should accept 0–10" + crud.Assumed("rotate-api-key-grace-period-minutes") +
							" Defaults to 0. The service should refuse a rotation if the old key expires during this time" + crud.Assumed("grace-beyond-expiry"),
						Validators: []validator.Int64{value.Between(0, maxGraceMinutes)},
					},
				},
			},
			"id":               result("The current key's ID. A rotation changes it."),
			"key":              schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key's value. Null after an import, until the first rotation. To get a value, add `rotation = { triggers = { imported = \"1\" }, grace_period_minutes = 10 }`."},
			"fingerprint":      result("Fingerprint of the key's value."),
			"created_at":       result("When the current key was created (RFC 3339, UTC)."),
			"rotated_at":       result("When the key was last rotated or replaced (RFC 3339, UTC). Null until the first time."),
			"next_rotation_at": result("When the key becomes due by `interval` or `before_expiry` (RFC 3339, UTC). Null if it never does."),
			"is_revoked":       schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the key was revoked or deleted elsewhere. Does not include expiry."},
			"revoked_at":       result("When the key was revoked (RFC 3339, UTC). Null if it was not revoked."),
			"previous_key_id":  result("ID of the previous key during its grace period. Null otherwise. After several rotations, keys before it may be in their grace periods too."),
		},
	}
}

func (r *apiKeyResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"service_account_id": identityschema.StringAttribute{RequiredForImport: true, Description: "ID of the service account."},
		"id":                 identityschema.StringAttribute{RequiredForImport: true, Description: "The current key's ID. A rotation changes it."},
	}}
}

func (r *apiKeyResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config apiKeyModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	settings, diags := config.settings(ctx)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(settings.check()...)
}

func (r *apiKeyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m, config apiKeyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	settings, diags := m.settings(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	createCtx, warnOfFound := crud.WithFound(ctx)
	made, err := r.Client.ServiceAccounts.CreateKey(createCtx, m.request())
	resp.Diagnostics.Append(warnOfFound()...)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", "API key", err, existingKey, apierror.AtAccount)...)
		return
	}
	m.setMinted(made, settings, r.now(ctx))
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m)...)
	resp.Diagnostics.Append(markExpiry(ctx, resp.Private, &config)...)
	resp.Diagnostics.Append(crud.RecordReader(ctx, r.Client, resp.Private)...)
}

// Read keeps a deleted key in the state as revoked while its account exists. The key is replaced in place, so that dependent
// resources are updated and not replaced.
func (r *apiKeyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m apiKeyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := r.Client.ServiceAccounts.GetKey(ctx, m.ServiceAccountID.ValueString(), m.ID.ValueString())
	var inGrace []string
	if err == nil {
		inGrace, err = r.stillInGrace(ctx, &m, req.Private)
	}
	switch {
	case err != nil:
		crud.HandleFailedRead(ctx, &r.Resource, &m, err, resp)
		return
	case found != nil:
		resp.Diagnostics.Append(m.FromAPI(ctx, found)...)
	case privatestate.IsImportUnread(ctx, resp.Private):
		crud.HandleGone(ctx, &r.Resource, &m, resp)
		return
	case !collection.IsYoung(r.now(ctx), parseTime(m.CreatedAt)): // A listing may not show a new key yet.
		m.IsRevoked = types.BoolValue(true)
	}
	if !slices.Contains(inGrace, m.PreviousKeyID.ValueString()) {
		m.PreviousKeyID = types.StringNull()
	}
	resp.Diagnostics.Append(privatestate.SetIDs(ctx, resp.Private, privatestate.InGrace, inGrace)...)
	resp.Diagnostics.Append(privatestate.MarkImportRead(ctx, resp.Private)...)
	resp.Diagnostics.Append(crud.RecordReader(ctx, r.Client, resp.Private)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m)...)
}

// ReadIsUnchanged implements crud.Shortcut: Read would store what the state has, and say nothing.
func (r *apiKeyResource) ReadIsUnchanged(ctx context.Context, state *crud.RawObject) bool {
	found := r.Client.ServiceAccounts.PeekKey(ctx, state.String("service_account_id"), state.String("id"))
	isQuiet := state.IsAtRest(privatestate.ExpiresAt) && isTimed(state)
	return found != nil && isQuiet && isSameCreation(state.Time("created_at"), found.CreatedAt.Time()) &&
		crud.HasValuesOf(ctx, state, apiKeyResults, found, "created_at")
}

// Update creates a new key if its ID is unknown in the plan. Otherwise, it only stores the configuration.
func (r *apiKeyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, state, config apiKeyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	settings, diags := m.settings(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	inGrace := privatestate.IDs(ctx, req.Private, privatestate.InGrace)
	if m.ID.IsUnknown() {
		old := serviceaccounts.Renewal{ID: state.ID.ValueString(), InGrace: inGrace, GraceMinutes: int64(settings.grace / time.Minute), IsRevoked: state.IsRevoked.ValueBool()}
		renewCtx, warnOfFound := crud.WithFound(ctx)
		made, err := r.Client.ServiceAccounts.RenewKey(renewCtx, m.request(), old)
		resp.Diagnostics.Append(warnOfFound()...)
		if err != nil {
			resp.Diagnostics.Append(apierror.For("rotate", "API key", err, existingRenewal)...)
			return
		}
		m.PreviousKeyID = state.PreviousKeyID // Its grace period goes on.
		if have, _ := state.keyState(ctx, req.Private); settings.grace > 0 && !have.isDead(r.now(ctx)) {
			m.PreviousKeyID = state.ID
			inGrace = append(inGrace, state.ID.ValueString())
		}
		m.RotatedAt = value.Time(cmp.Or(made.CreatedAt.Time(), r.now(ctx)))
		m.setMinted(made, settings, r.now(ctx))
	}
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m)...)
	if resp.Diagnostics.HasError() {
		return // The private state is saved only together with the state.
	}
	resp.Diagnostics.Append(markExpiry(ctx, resp.Private, &config)...)
	resp.Diagnostics.Append(privatestate.SetIDs(ctx, resp.Private, privatestate.InGrace, inGrace)...)
	resp.Diagnostics.Append(privatestate.ForgetImport(ctx, resp.Private)...)
}

// Delete revokes the key, and the old keys in their grace periods.
func (r *apiKeyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(m *apiKeyModel) error {
		keys, account := r.Client.ServiceAccounts, m.ServiceAccountID.ValueString()
		if named, err := keys.KeysNamed(ctx, account, m.Name.ValueString()); err == nil { // A missing listing only costs the warning.
			resp.Diagnostics.Append(m.warnOfOthers(named, r.now(ctx))...)
		}
		for _, old := range privatestate.IDs(ctx, req.Private, privatestate.InGrace) {
			if err := keys.RevokeExistingKey(ctx, account, old); err != nil && !collection.IsGone(err) {
				return err
			}
		}
		return keys.RevokeExistingKey(ctx, account, m.ID.ValueString())
	})
}

// warnOfOthers names the newer live keys with the name of a key that is destroyed: whoever rotated it by hand uses the new key, and a
// killed run lost its value. The old key may be in its grace period.
func (m *apiKeyModel) warnOfOthers(named []serviceaccounts.APIKey, now time.Time) (diags diag.Diagnostics) {
	for _, k := range named {
		isOwn := k.ID == m.ID.ValueString() || k.ID == m.PreviousKeyID.ValueString()
		if !isOwn && k.IsLive(now) && !k.CreatedAt.Time().Before(parseTime(m.CreatedAt)) {
			diags.AddWarning("Another live API key of the same name", fmt.Sprintf("API key %s (%q, created at %s) of service account %s was created after the destroyed key, and still works. "+
				"If nobody uses it, revoke it with the action or resource agentyard_api_key_revoke and key_id = %q.", k.ID, k.Name, utc(k.CreatedAt.Time()), k.AccountID, k.ID))
		}
	}
	return diags
}

func (r *apiKeyResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var id apiKeyIdentity
	if !crud.IdentityOf(ctx, req, &id, &resp.Diagnostics) {
		account, key, ok := strings.Cut(req.ID, "/")
		if !ok || account == "" || key == "" || account == "." || account == ".." || strings.ContainsAny(key, "/ \t\n") || strings.ContainsAny(account, " \t\n") {
			resp.Diagnostics.AddError("Invalid import ID", fmt.Sprintf("The import ID of an API key is service_account_id/key_id, such as sa_01/key_01, not %q.", req.ID))
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
	resp.Diagnostics.Append(privatestate.MarkImported(ctx, resp.Private)...)
}

// stillInGrace returns the IDs of the old keys whose grace periods have not ended.
func (r *apiKeyResource) stillInGrace(ctx context.Context, m *apiKeyModel, private privatestate.Reader) (living []string, err error) {
	for _, id := range privatestate.IDs(ctx, private, privatestate.InGrace) {
		switch old, err := r.Client.ServiceAccounts.GetKey(ctx, m.ServiceAccountID.ValueString(), id); {
		case err != nil:
			return nil, err
		case old != nil && old.IsLive(r.now(ctx)):
			living = append(living, id)
		}
	}
	return living, nil
}

// now is the service's time, which decides whether a key is alive, in its grace period, or due.
func (r *apiKeyResource) now(ctx context.Context) time.Time { return r.Client.Conn.ServiceNow(ctx) }

// parseTime returns the zero time for null and unknown.
func parseTime(s types.String) time.Time {
	at, _ := time.Parse(time.RFC3339, s.ValueString())
	return at
}

// parseDuration returns 0 for null and unknown, and for values that a validator rejects.
func parseDuration(s types.String) time.Duration {
	if d, err := clock.ParseDuration(s.ValueString()); err == nil && d >= time.Second {
		return d
	}
	return 0
}
