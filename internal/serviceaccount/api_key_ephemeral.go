package serviceaccount

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
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

var apiKeyEphemeralFields = apierror.Fields{"name": path.Root("name"), "expiresAt": path.Root("expires_in")}

// NewAPIKeyEphemeral returns the ephemeral resource agentyard_api_key.
func NewAPIKeyEphemeral() ephemeral.EphemeralResource {
	return &apiKeyEphemeral{crud.Ephemeral{Name: "api_key"}}
}

type apiKeyEphemeral struct{ crud.Ephemeral }

type apiKeyEphemeralModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	Name             types.String `tfsdk:"name"`
	ExpiresIn        types.String `tfsdk:"expires_in"`
	ID               types.String `tfsdk:"id"`
	Key              types.String `tfsdk:"key"`
	Fingerprint      types.String `tfsdk:"fingerprint"`
	ExpiresAt        types.String `tfsdk:"expires_at"`
}

// ephemeralKey identifies the key for Close, without its value.
type ephemeralKey struct {
	AccountID string `json:"account_id"`
	KeyID     string `json:"key_id"`
}

func (e *apiKeyEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Creates a short-lived API key for a service account. The key is never stored in state or plan." + managersOnly + "\n\n" +
			"Each plan and each apply creates a key, and revokes it at the end if the run succeeds. " +
			"After an error or Ctrl-C, Terraform does not close ephemeral resources, so the key works until it expires. Keep `expires_in` short. See [API keys without state](../guides/api-keys-without-state)." + crud.AssumedFormat,
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the service account that the key authenticates as.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the key. Must be 1–128 characters. Does not have to be unique.",
				Validators:          []validator.String{value.Length(1, maxKeyName)},
			},
			"expires_in": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Time until the key expires if it is not revoked." + durationForms + " Must cover the whole run, because a key cannot be extended. Keep it short, because a failed run does not revoke its key. Defaults to `" + defaultLifetime + "`.",
				Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
			},
			"id":          schema.StringAttribute{Computed: true, MarkdownDescription: "The key's ID."},
			"key":         schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key's value."},
			"fingerprint": schema.StringAttribute{Computed: true, MarkdownDescription: "Fingerprint of the key's value."},
			"expires_at":  schema.StringAttribute{Computed: true, MarkdownDescription: "When the key expires (RFC 3339, UTC)."},
		},
	}
}

func (e *apiKeyEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m apiKeyEphemeralModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if m.ExpiresIn.IsNull() {
		m.ExpiresIn = types.StringValue(defaultLifetime)
	}
	made, err := e.Client.ServiceAccounts.CreateKeyAmongOthers(ctx, serviceaccounts.NewAPIKey{
		AccountID: m.ServiceAccountID.ValueString(), Name: m.Name.ValueString(),
		ExpiresAt: e.Client.Conn.Clock.Now().Add(parseDuration(m.ExpiresIn)),
	})
	if err != nil {
		resp.Diagnostics.Append(apierror.For("open", "API key", err, apiKeyEphemeralFields, existingKey, keyLeft, atAccount, crud.Given(ctx, req.Config))...)
		return
	}
	m.ID, m.Key, m.Fingerprint = types.StringValue(made.ID), types.StringValue(made.Value), value.StringOrNull(made.Fingerprint)
	m.ExpiresAt = value.Time(made.ExpiresAt.Time())
	mark, err := json.Marshal(ephemeralKey{AccountID: m.ServiceAccountID.ValueString(), KeyID: made.ID})
	if err != nil {
		resp.Diagnostics.AddError("Private Data Cannot Be Stored", err.Error())
	}
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, openedKey, mark)...)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		// Terraform does not call Close after a failed Open.
		e.revoke(ctx, ephemeralKey{AccountID: m.ServiceAccountID.ValueString(), KeyID: made.ID}, resp.Diagnostics.AddError)
	}
}

func (e *apiKeyEphemeral) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	mark, diags := req.Private.GetKey(ctx, openedKey)
	resp.Diagnostics.Append(diags...)
	var key ephemeralKey
	err := json.Unmarshal(mark, &key)
	if err == nil && (key.AccountID == "" || key.KeyID == "") {
		err = errors.New("it contains no key ID")
	}
	if err != nil {
		resp.Diagnostics.AddError("Cannot Tell Which API Key to Revoke", fmt.Sprintf("The private data of the ephemeral resource cannot be read: %s. The key was not revoked and works until it expires. "+
			"To revoke it now, find it with the data source agentyard_api_keys and use the action agentyard_api_key_revoke.", err))
		return
	}
	e.revoke(ctx, key, resp.Diagnostics.AddError)
}

// revoke ignores an interrupt, because otherwise the key would stay valid until it expires.
func (e *apiKeyEphemeral) revoke(ctx context.Context, key ephemeralKey, addError func(summary, detail string)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
	defer cancel()
	if err := e.Client.ServiceAccounts.RevokeExistingKey(ctx, key.AccountID, key.KeyID); err != nil && !collection.IsGone(err) {
		for _, d := range apierror.For("revoke", "API key", err) {
			addError(d.Summary(), fmt.Sprintf("API key %s of service account %s was not revoked and works until it expires. %s", key.KeyID, key.AccountID, d.Detail()))
		}
	}
}
