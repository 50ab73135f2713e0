package serviceaccount

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*apiKeyEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithClose     = (*apiKeyEphemeral)(nil)
)

const (
	// defaultLifetime limits the lifetime of a key that Terraform does not close: after an error, Ctrl-C, or a kill.
	defaultLifetime = "1h"
	// openedKey is the private data that Close uses to find the key.
	openedKey = "opened"
	// revokeTimeout limits a revocation, which continues after an interrupt.
	revokeTimeout = time.Minute
)

// NewAPIKeyEphemeral returns the ephemeral resource agentyard_api_key.
func NewAPIKeyEphemeral() ephemeral.EphemeralResource {
	return &apiKeyEphemeral{crud.Ephemeral{Name: "api_key"}}
}

type apiKeyEphemeral struct{ crud.Ephemeral }

type apiKeyEphemeralModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	Name             types.String `tfsdk:"name"`
	ExpiresIn        types.String `tfsdk:"expires_in"`
	Keep             types.Bool   `tfsdk:"keep"`
	ID               types.String `tfsdk:"id"`
	Key              types.String `tfsdk:"key"`
	Fingerprint      types.String `tfsdk:"fingerprint"`
	ExpiresAt        types.String `tfsdk:"expires_at"`
	IsNew            types.Bool   `tfsdk:"is_new"`
}

// request describes a key that never expires if it is kept and has no expires_in.
func (m *apiKeyEphemeralModel) request() serviceaccounts.NewAPIKey {
	return serviceaccounts.NewAPIKey{AccountID: m.ServiceAccountID.ValueString(), Name: m.Name.ValueString(), ExpiresIn: parseDuration(m.ExpiresIn)}
}

// setResults sets the results for a new key, or to null if nothing was created.
func (m *apiKeyEphemeralModel) setResults(made *serviceaccounts.MintedAPIKey) {
	m.IsNew = types.BoolValue(made != nil)
	if made != nil {
		m.ID, m.Key, m.Fingerprint = types.StringValue(made.ID), types.StringValue(made.Value), value.StringOrNull(made.Fingerprint)
		m.ExpiresAt = value.Time(made.ExpiresAt.Time())
	}
}

// ephemeralKey identifies the key for Close, without its value.
type ephemeralKey struct {
	AccountID string `json:"account_id"`
	KeyID     string `json:"key_id"`
	// IsKept is set if Close has nothing to revoke.
	IsKept bool `json:"is_kept,omitempty"`
}

func (e *apiKeyEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Creates an API key for a service account: for the run, or for a secret store. The key is never stored in state or plan." + crud.ManagersOnly + "\n\n" +
			"**A key for the run.** Without `keep`, each plan and each apply creates a key, and revokes it at the end if the run succeeds. " +
			"After an error or Ctrl-C, Terraform does not close ephemeral resources, so the key works until it expires. Keep `expires_in` short.\n\n" +
			"**A key for a secret store.** With `keep = terraform.applying`, a plan creates nothing. An apply creates a key that works after the run, and only if the account has no live key with the name. " +
			"An existing key's value is not available, so `key` is then null. If a run is killed before the value is stored, the value is lost, and `key` is null in every later run. A run must then fail instead of storing null. The upload in the example does; for other stores, use the form of the guide.\n\n" +
			"**More.** [API keys without state](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/api-keys-without-state) shows both." + crud.AssumedFormat,
		Attributes: map[string]schema.Attribute{
			"service_account_id": crud.RequiredText("ID of the service account that the key authenticates as."),
			"name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the key. The service should accept 1–128 characters" + crud.Assumed("create-api-key") + " Does not have to be unique, unless `keep` is set" + crud.Assumed("create-api-key-name"),
				Validators:          []validator.String{value.Length(1, maxKeyName)},
			},
			"expires_in": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Time until the key expires if it is not revoked." + durationForms + " Must cover the whole run, because a key cannot be extended. Keep it short, because a failed run does not revoke its key. Defaults to `" + defaultLifetime + "`. " +
					"With `keep`, there is no default: a kept key without `expires_in` should never expire" + crud.Assumed("create-api-key"),
				Validators: []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
			},
			"keep": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether to create a key that is not revoked at the end of the run. Use `keep = terraform.applying`. If `true`, a key is created only if the account has no live key with the name. " +
					"If `false`, nothing is created. If omitted, the key is for the run. With a constant `true`, the plan creates the key, and its value is lost. " +
					"After the key is revoked or expires, the next apply creates another one, unless the name changes; see [API keys without state](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/api-keys-without-state).",
			},
			"id":          schema.StringAttribute{Computed: true, MarkdownDescription: "The key's ID."},
			"key":         schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key's value."},
			"fingerprint": schema.StringAttribute{Computed: true, MarkdownDescription: "Fingerprint of the key's value."},
			"expires_at":  schema.StringAttribute{Computed: true, MarkdownDescription: "When the key expires (RFC 3339, UTC)."},
			"is_new":      schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether a key was created. If `false`, `id`, `key`, `fingerprint`, and `expires_at` are null."},
		},
	}
}

func (e *apiKeyEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m apiKeyEphemeralModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if m.ExpiresIn.IsNull() && m.Keep.IsNull() {
		m.ExpiresIn = types.StringValue(defaultLifetime)
	}
	createCtx, warnOfFound := crud.WithFound(ctx)
	made, err := e.create(createCtx, &m)
	resp.Diagnostics.Append(warnOfFound()...)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("open", "API key", err, existingKey, apierror.AtAccount)...)
		return
	}
	m.setResults(made)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
	key := ephemeralKey{AccountID: m.ServiceAccountID.ValueString(), KeyID: m.ID.ValueString(), IsKept: !m.Keep.IsNull()}
	mark, _ := json.Marshal(key) // Texts and a boolean can always be encoded.
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, openedKey, mark)...)
	if made != nil && ctx.Err() != nil {
		err := fmt.Errorf("nothing can use the value of API key %s, so the provider revokes it: %w", made.ID, context.Cause(ctx))
		resp.Diagnostics.Append(apierror.For("open", "API key", err)...)
	}
	if made != nil && resp.Diagnostics.HasError() {
		// Terraform does not call Close after a failed Open.
		e.revoke(ctx, key, resp.Diagnostics.AddError)
	}
}

// create returns nil if it creates nothing: keep is false, or the account has a live key with the name.
func (e *apiKeyEphemeral) create(ctx context.Context, m *apiKeyEphemeralModel) (*serviceaccounts.MintedAPIKey, error) {
	keys, n := e.Client.ServiceAccounts, m.request()
	switch {
	case m.Keep.IsNull():
		return keys.CreateKeyAmongOthers(ctx, n)
	case !m.Keep.ValueBool():
		return nil, keys.CheckAccess(ctx)
	}
	made, err := keys.CreateMissingKey(ctx, n)
	if _, ok := errors.AsType[*create.ExistsError](err); ok {
		return nil, nil
	}
	return made, err
}

func (e *apiKeyEphemeral) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	mark, diags := req.Private.GetKey(ctx, openedKey)
	resp.Diagnostics.Append(diags...)
	var key ephemeralKey
	if err := json.Unmarshal(mark, &key); err != nil {
		resp.Diagnostics.Append(apierror.For("revoke", "API key", err)...)
	} else if !key.IsKept {
		e.revoke(ctx, key, resp.Diagnostics.AddError)
	}
}

// revoke ignores an interrupt, because otherwise the key would stay valid until it expires.
func (e *apiKeyEphemeral) revoke(ctx context.Context, key ephemeralKey, addError func(summary, detail string)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
	defer cancel()
	if err := e.Client.ServiceAccounts.RevokeExistingKey(ctx, key.AccountID, key.KeyID); err != nil && !collection.IsGone(err) {
		for _, d := range apierror.For("revoke", "API key", err) {
			addError(d.Summary(), fmt.Sprintf("API key %s of service account %s was not revoked and works until it expires or is revoked. %s", key.KeyID, key.AccountID, d.Detail()))
		}
	}
}
