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
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*apiKeyEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithClose     = (*apiKeyEphemeral)(nil)
)

const (
	// defaultLifetime is the safety net of a key whose run is killed before it can be revoked.
	defaultLifetime = "1h"
	// openedKey is the private data that tells Close what Open minted.
	openedKey = "opened"
	// revokeTimeout bounds a revocation, which outlives a run that is being stopped.
	revokeTimeout = time.Minute
)

// apiKeyEphemeralFields says where an error about a field of the API is shown.
var apiKeyEphemeralFields = apierror.Fields{"name": path.Root("name"), "expiresAt": path.Root("expires_in")}

// NewAPIKeyEphemeral returns the ephemeral resource agentyard_api_key.
func NewAPIKeyEphemeral() ephemeral.EphemeralResource { return &apiKeyEphemeral{} }

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

// opened names a key without its value.
type opened struct {
	AccountID string `json:"account_id"`
	KeyID     string `json:"key_id"`
}

func (e *apiKeyEphemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_api_key"
}

func (e *apiKeyEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A short-lived API key of a service account, in no state and no plan. Each plan and each apply mints a key of its own and revokes it at its end; the key of a run that was killed expires. " +
			"Use it for provider blocks and write-only arguments." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the service account that the key authenticates as.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the key, 1 to 128 characters. Other live keys may have it too.",
				Validators:          []validator.String{value.Length(1, maxKeyName)},
			},
			"expires_in": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: durationForms + " after which the key expires in any case. It must cover the whole run, because a key's life cannot be extended. Default `" + defaultLifetime + "`.",
				Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
			},
			"id":          schema.StringAttribute{Computed: true, MarkdownDescription: "The key's ID."},
			"key":         schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key's value."},
			"fingerprint": schema.StringAttribute{Computed: true, MarkdownDescription: "Identifies the key's value without showing it."},
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
		resp.Diagnostics.Append(apierror.For("open", "API key", err, apiKeyEphemeralFields, existingKey)...)
		return
	}
	m.ID, m.Key, m.Fingerprint = types.StringValue(made.ID), types.StringValue(made.Value), value.StringOrNull(made.Fingerprint)
	m.ExpiresAt = value.Time(made.ExpiresAt.Time())
	mark, err := json.Marshal(opened{AccountID: m.ServiceAccountID.ValueString(), KeyID: made.ID})
	if err != nil {
		resp.Diagnostics.AddError("API Key Not Remembered", err.Error())
	}
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, openedKey, mark)...)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		// Terraform does not close what did not open.
		e.revoke(ctx, opened{AccountID: m.ServiceAccountID.ValueString(), KeyID: made.ID}, resp.Diagnostics.AddError)
	}
}

// Close revokes the key. One that is gone already is closed.
func (e *apiKeyEphemeral) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	mark, diags := req.Private.GetKey(ctx, openedKey)
	resp.Diagnostics.Append(diags...)
	var key opened
	err := json.Unmarshal(mark, &key)
	if err == nil && (key.AccountID == "" || key.KeyID == "") {
		err = errors.New("it names no key")
	}
	if err != nil {
		resp.Diagnostics.AddError("Cannot Tell Which API Key to Revoke", fmt.Sprintf("What Open remembered for Close is not readable: %s. The key that was minted is not revoked now and expires by itself. "+
			"To end it earlier, look it up with the data source agentyard_api_keys and revoke it with the action agentyard_api_key_revoke.", err))
		return
	}
	e.revoke(ctx, key, resp.Diagnostics.AddError)
}

// revoke also works when the run is being stopped: a request that changes something runs to its answer, once it is sent.
func (e *apiKeyEphemeral) revoke(ctx context.Context, key opened, addError func(summary, detail string)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
	defer cancel()
	if err := e.Client.ServiceAccounts.RevokeExistingKey(ctx, key.AccountID, key.KeyID); err != nil && !transport.IsGone(err) {
		for _, d := range apierror.For("revoke", "API key", err) {
			addError(d.Summary(), fmt.Sprintf("API key %s of service account %s lives on until it expires, unless it is revoked. %s", key.KeyID, key.AccountID, d.Detail()))
		}
	}
}
