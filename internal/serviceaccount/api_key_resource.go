package serviceaccount

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
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

// NewAPIKeyResource returns the resource agentyard_api_key.
func NewAPIKeyResource() resource.Resource { return &apiKeyResource{} }

type apiKeyResource struct{ crud.Resource }

// expiry is when a key that is made now expires; the zero time is never.
func (m *apiKeyModel) expiry(now time.Time) time.Time {
	if lifetime := parseDuration(m.ExpiresIn); lifetime != 0 {
		return now.Add(lifetime)
	}
	return parseTime(m.ExpiresAt)
}

// Metadata declares that a rotation changes the identity, which is the key's ID; without it an apply fails after the rotation was done.
func (r *apiKeyResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_api_key"
	resp.ResourceBehavior = resource.ResourceBehavior{MutableIdentity: true}
}

func (r *apiKeyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = apiKeySchema()
}

func (r *apiKeyResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"service_account_id": identityschema.StringAttribute{RequiredForImport: true, Description: "ID of the service account."},
		"id":                 identityschema.StringAttribute{RequiredForImport: true, Description: "The present key's ID. A rotation changes it."},
	}}
}

func (r *apiKeyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m, config apiKeyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	now := r.now()
	made, err := r.Client.CreateAPIKey(ctx, client.NewAPIKey{AccountID: m.ServiceAccountID.ValueString(), Name: m.Name.ValueString(), ExpiresAt: m.expiry(now)})
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", "API key", err, apiKeyFields, apiKeyLeftover)...)
		return
	}
	m.RotatedAt, m.PreviousKeyID = types.StringNull(), types.StringNull()
	resp.Diagnostics.Append(m.setMinted(ctx, made, now)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
	resp.Diagnostics.Append(markExpiry(ctx, resp.Private, &config)...)
	resp.Diagnostics.Append(r.complete(ctx, &m, "", &resp.State, resp.Identity)...)
}

// Read finds the key in the listing of its account. One that is missing while its account exists is dead, and stays in
// the state as such: its successor is minted in place, so that what depends on it is updated and not replaced.
func (r *apiKeyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m apiKeyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	keys, err := r.Client.APIKeys(ctx, m.ServiceAccountID.ValueString())
	if err != nil {
		crud.Unreadable(ctx, "API key", m.Identity(), err, resp)
		return
	}
	switch found := keyWithID(keys, m.ID.ValueString()); {
	case found != nil:
		resp.Diagnostics.Append(m.FromAPI(ctx, found)...)
	case m.Name.IsNull(): // Only what is being imported has no name.
		crud.Gone(ctx, "API key", m.Identity(), resp)
		return
	default:
		m.IsRevoked = types.BoolValue(true)
	}
	m.PreviousKeyID = r.stillLive(keys, m.PreviousKeyID.ValueString())
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
		resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
		resp.Diagnostics.Append(markExpiry(ctx, resp.Private, &config)...)
		return
	}
	now := r.now()
	verb, previous := "rotate", state.ID.ValueString()
	var made *client.MintedAPIKey
	var err error
	if known.isDead(now) {
		verb, previous = "replace", state.PreviousKeyID.ValueString()
		made, err = r.Client.CreateAPIKey(ctx, client.NewAPIKey{
			AccountID: state.ServiceAccountID.ValueString(), Name: state.Name.ValueString(), ExpiresAt: m.expiry(now),
			Replaces: state.ID.ValueString(), Spares: previous,
		})
	} else {
		made, err = r.rotate(ctx, &state, m.expiry(now), int64(settings.grace/time.Minute))
	}
	if err != nil {
		resp.Diagnostics.Append(rotationError(verb, err, settings.grace)...)
		return
	}
	// Stored before anything else is asked for: nobody can get the value a second time.
	m.RotatedAt, m.PreviousKeyID = value.Time(now), value.StringOrNull(previous)
	resp.Diagnostics.Append(m.setMinted(ctx, made, now)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
	resp.Diagnostics.Append(markExpiry(ctx, resp.Private, &config)...)
	resp.Diagnostics.Append(r.complete(ctx, &m, previous, &resp.State, resp.Identity)...)
}

// Delete revokes the key and the one before it. A key that was found dead may have been rotated by a run that was
// interrupted; what that left behind is revoked too.
func (r *apiKeyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m apiKeyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	settings, _, diags := m.settings(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	var newer []client.APIKey
	if m.IsRevoked.ValueBool() || settings.grace > 0 {
		var err error
		newer, err = r.Client.RevokeReplacement(ctx, m.ServiceAccountID.ValueString(), m.ID.ValueString(), m.PreviousKeyID.ValueString())
		if err != nil && !client.IsNotFound(err) {
			resp.Diagnostics.Append(apierror.For("revoke", "API key", err)...)
			return
		}
	}
	for _, id := range []string{m.ID.ValueString(), m.PreviousKeyID.ValueString()} {
		if id == "" {
			continue
		}
		if err := r.Client.RevokeAPIKey(ctx, m.ServiceAccountID.ValueString(), id); err != nil && !client.IsNotFound(err) {
			resp.Diagnostics.Append(apierror.For("revoke", "API key", err)...)
			return
		}
	}
	for _, k := range newer {
		resp.Diagnostics.AddWarning("Another Live API Key of the Same Name", fmt.Sprintf("API key %s (%q, created at %s) of service account %s was made after the key that was destroyed and is in this state no longer, if it ever was. "+
			"If it is a leftover of an interrupted run, revoke it: with the action agentyard_api_key_revoke and key_id = %q, or at the service.", k.ID, k.Name, k.CreatedAt.Time().Format(time.RFC3339), k.AccountID, k.ID))
	}
}

// ImportState takes service_account_id/key_id, or the identity.
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
	resp.Diagnostics.AddWarning("API Key Imported Without Its Value", fmt.Sprintf("The service shows the value of a key only once, so the attribute key of %s is null. "+
		"To get a key with a value, add a rotation block, such as rotation = { triggers = { imported = \"1\" } }: the next apply rotates the key, and what uses the old value stops working after the grace period.", id.ID.ValueString()))
}

// rotate rotates a live key. Only one previous key lives on, so an older one that is still in its grace period ends first.
func (r *apiKeyResource) rotate(ctx context.Context, state *apiKeyModel, expiresAt time.Time, grace int64) (*client.MintedAPIKey, error) {
	account := state.ServiceAccountID.ValueString()
	if previous := state.PreviousKeyID.ValueString(); previous != "" {
		if err := r.Client.RevokeAPIKey(ctx, account, previous); err != nil && !client.IsNotFound(err) {
			return nil, err
		}
	}
	return r.Client.RotateAPIKey(ctx, client.APIKeyRotation{AccountID: account, KeyID: state.ID.ValueString(), Name: state.Name.ValueString(), ExpiresAt: expiresAt, GraceMinutes: grace})
}

// complete adds what only a listing tells of a new key. The key is in the state already, so a failure is no error: it
// would taint a new key, and the next refresh tells as well.
func (r *apiKeyResource) complete(ctx context.Context, m *apiKeyModel, previous string, state *tfsdk.State, identity *tfsdk.ResourceIdentity) diag.Diagnostics {
	keys, err := r.Client.APIKeyShown(ctx, m.ServiceAccountID.ValueString(), m.ID.ValueString())
	found := keyWithID(keys, m.ID.ValueString())
	if found == nil {
		why := "the listing does not show it yet"
		if err != nil {
			why = err.Error()
		}
		return diag.Diagnostics{diag.NewWarningDiagnostic("API Key Not Read Back", fmt.Sprintf("API key %s was made and is in the state with its value, but created_at is not known: %s. The next refresh completes it.", m.ID.ValueString(), why))}
	}
	diags := m.FromAPI(ctx, found)
	if !m.RotatedAt.IsNull() && !m.CreatedAt.IsNull() {
		m.RotatedAt = m.CreatedAt
	}
	m.PreviousKeyID = r.stillLive(keys, previous)
	diags.Append(crud.Save(ctx, state, identity, m, m.Identity())...)
	return diags
}

// stillLive is the ID of a key that lives out its grace period, or null.
func (r *apiKeyResource) stillLive(keys []client.APIKey, id string) types.String {
	if k := keyWithID(keys, id); k != nil && k.IsLive(r.now()) {
		return types.StringValue(id)
	}
	return types.StringNull()
}

func keyWithID(keys []client.APIKey, id string) *client.APIKey {
	i := slices.IndexFunc(keys, func(k client.APIKey) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// rotationError explains a refusal that does not name the argument at fault.
func rotationError(verb string, err error, grace time.Duration) diag.Diagnostics {
	diags := apierror.For(verb, "API key", err, apiKeyFields, apiKeyLeftover)
	if verb == "rotate" && grace > 0 && client.StatusOf(err) == http.StatusBadRequest {
		diags.AddAttributeWarning(path.Root("rotation").AtName(fieldGrace), "Grace Period May Be the Cause",
			"The service refuses a rotation whose grace period is longer than the old key lives. Shorten grace_period_minutes, or wait until the key has expired: a new one is minted then.")
	}
	return diags
}
