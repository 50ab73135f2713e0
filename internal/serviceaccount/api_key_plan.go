package serviceaccount

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// expiryMark is the private state that says that expires_at came from the configuration: the service may set one too,
// and taking that for a removed argument would rotate the key for ever.
const expiryMark = "expires_at"

// privateData is the part of the framework's private state that is used here; its type cannot be named outside.
type privateData interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
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

// ModifyPlan shows in the plan what decide says. A key that is to be replaced gets unknown results, so that what depends
// on them is planned too; any other keeps its results. The identity stays as it is: Terraform refuses an unknown one.
func (r *apiKeyResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var config, plan apiKeyModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	settings, unknown, diags := config.settings(ctx)
	resp.Diagnostics.Append(diags...)
	wanted := &keyConfig{settings: settings, unknown: unknown}

	if req.State.Raw.IsNull() {
		resp.Diagnostics.Append(problemDiagnostics(checkAt(nil, wanted, keyDecision{}, r.now()))...)
		plan.RotatedAt, plan.PreviousKeyID = types.StringNull(), types.StringNull()
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
		return
	}
	var state apiKeyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	known, diags := state.keyState(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !plan.ServiceAccountID.Equal(state.ServiceAccountID) || !plan.Name.Equal(state.Name) {
		return // Another account or name replaces the resource, which is planned as a destruction and a creation.
	}
	wanted.differs = config.differsFrom(&state)

	now := r.now()
	d := decide(known, wanted, now)
	tflog.Debug(ctx, "Decided about an API key", map[string]any{"id": state.ID.ValueString(), "action": string(d.action), "reason": d.reason})
	resp.Diagnostics.Append(problemDiagnostics(checkAt(known, wanted, d, now))...)
	resp.Diagnostics.Append(d.warning(&state)...)
	if d.replaces() {
		plan.forgetResults(&config)
	} else {
		plan.keepResults(&config, &state, nextRotation(known.createdAt, known.settings.expiresAt, settings.interval, settings.beforeExpiry))
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// now is the present time; the machine's as long as the provider is not configured.
func (r *apiKeyResource) now() time.Time {
	if r.Client == nil {
		return clock.System.Now()
	}
	return r.Client.Clock().Now()
}

// warning tells what a plan alone does not show: why a key is dead, and what nothing is done about.
func (d keyDecision) warning(state *apiKeyModel) diag.Diagnostics {
	key := "API key " + state.ID.ValueString() + " of service account " + state.ServiceAccountID.ValueString() + ": "
	switch d.action {
	case keyMint:
		return diag.Diagnostics{diag.NewWarningDiagnostic("API Key Is Dead", key+d.reason+". A new key is minted in its place.")}
	case keyWarn:
		return diag.Diagnostics{diag.NewWarningDiagnostic("API Key Needs Attention", key+d.reason+".")}
	}
	return nil
}

// forgetResults makes the results unknown, except for an expiry that is configured.
func (m *apiKeyModel) forgetResults(config *apiKeyModel) {
	unknown := types.StringUnknown()
	m.ID, m.Key, m.Fingerprint, m.CreatedAt, m.RotatedAt, m.NextRotationAt = unknown, unknown, unknown, unknown, unknown, unknown
	m.IsRevoked, m.RevokedAt, m.PreviousKeyID = types.BoolUnknown(), unknown, unknown
	m.ExpiresAt = config.ExpiresAt
	if config.ExpiresAt.IsNull() {
		m.ExpiresAt = unknown
	}
}

// keepResults makes the results those of the state. Only when the key is due may differ, as the configuration does.
func (m *apiKeyModel) keepResults(config, state *apiKeyModel, due time.Time) {
	m.ID, m.Key, m.Fingerprint, m.CreatedAt, m.RotatedAt = state.ID, state.Key, state.Fingerprint, state.CreatedAt, state.RotatedAt
	m.IsRevoked, m.RevokedAt, m.PreviousKeyID = state.IsRevoked, state.RevokedAt, state.PreviousKeyID
	m.NextRotationAt = state.NextRotationAt
	if !m.CreatedAt.IsNull() && !parseTime(state.NextRotationAt).Equal(due) {
		m.NextRotationAt = value.Time(due)
	}
	if config.ExpiresAt.IsNull() {
		m.ExpiresAt = state.ExpiresAt
	}
}

// differsFrom reports that an argument is not what the state has.
func (m *apiKeyModel) differsFrom(state *apiKeyModel) bool {
	return !m.ExpiresIn.Equal(state.ExpiresIn) || !m.Rotation.Equal(state.Rotation) || !m.ExpiresAt.IsNull() && !m.ExpiresAt.Equal(state.ExpiresAt)
}

// keyState is what a state says about the key.
func (m *apiKeyModel) keyState(ctx context.Context, private privateData) (*keyState, diag.Diagnostics) {
	settings, _, diags := m.settings(ctx)
	mark, d := private.GetKey(ctx, expiryMark)
	diags.Append(d...)
	return &keyState{
		settings: settings, hasValue: !m.Key.IsNull(), isRevoked: m.IsRevoked.ValueBool(), createdAt: parseTime(m.CreatedAt), expiryConfigured: string(mark) == "true",
	}, diags
}

// markExpiry remembers whether expires_at came from the configuration.
func markExpiry(ctx context.Context, private privateData, config *apiKeyModel) diag.Diagnostics {
	if config.ExpiresAt.IsNull() {
		return private.SetKey(ctx, expiryMark, []byte("false"))
	}
	return private.SetKey(ctx, expiryMark, []byte("true"))
}

func problemDiagnostics(problems []keyProblem) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, p := range problems {
		at := path.Root(p.field)
		if p.field == fieldBeforeExpiry || p.field == fieldGrace {
			at = path.Root("rotation").AtName(p.field)
		}
		diags.AddAttributeError(at, p.summary, p.detail)
	}
	return diags
}
