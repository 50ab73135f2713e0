package serviceaccount

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

func (r *apiKeyResource) planCreation(ctx context.Context, req *resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) diag.Diagnostics {
	var config, plan apiKeyModel
	diags := req.Config.Get(ctx, &config)
	diags.Append(req.Plan.Get(ctx, &plan)...)
	if diags.HasError() {
		return diags
	}
	settings, unknown, d := config.settings(ctx)
	diags.Append(d...)
	wanted := &keyConfig{settings: settings, unknown: unknown}
	diags.Append(problemDiagnostics(checkAt(nil, wanted, keyDecision{}, r.now()))...)
	plan.newResults(&config, wanted)
	plan.RotatedAt, plan.PreviousKeyID = types.StringNull(), types.StringNull()
	diags.Append(resp.Plan.Set(ctx, &plan)...)
	if plan.ServiceAccountID.IsUnknown() {
		return diags
	}
	return append(diags, apierror.For("plan", "API key", r.Client.ServiceAccounts.CheckKeyAccess(ctx, plan.ServiceAccountID.ValueString()), apiKeyFields)...)
}

// planUpdate makes the results of a new key unknown, so that dependent resources are planned too. The identity does not
// change, because Terraform rejects an unknown identity.
func (r *apiKeyResource) planUpdate(ctx context.Context, req *resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) diag.Diagnostics {
	var config, plan, state apiKeyModel
	diags := req.Config.Get(ctx, &config)
	diags.Append(req.Plan.Get(ctx, &plan)...)
	diags.Append(req.State.Get(ctx, &state)...)
	if diags.HasError() {
		return diags
	}
	settings, unknown, d := config.settings(ctx)
	diags.Append(d...)
	current, d := state.keyState(ctx, req.Private)
	diags.Append(d...)
	if diags.HasError() || !plan.ServiceAccountID.Equal(state.ServiceAccountID) || !plan.Name.Equal(state.Name) {
		return diags // A replacement is planned as a destroy and a create.
	}
	isFixed := config.hasFixedExpiry()
	if isFixed {
		settings.expiresAt = time.Time{}
	}
	wanted := &keyConfig{settings: settings, unknown: unknown, differs: config.differsFrom(&state)}

	now := r.now()
	decision := decide(current, wanted, now)
	if isFixed && decision.replaces() {
		decision = keyDecision{keyWarn, fieldExpiresAt, decision.reason + ". It is left alone, because ignore_changes includes expires_at, and a new key would expire at another time. Remove expires_at, or all, from ignore_changes"}
	}
	tflog.Debug(ctx, "Decided about an API key", map[string]any{"id": state.ID.ValueString(), "action": string(decision.action), "reason": decision.reason})
	diags.Append(problemDiagnostics(checkAt(current, wanted, decision, now))...)
	diags.Append(decision.warnings(&state, wanted)...)
	if decision.replaces() {
		plan.renewedResults(&config, &state, wanted)
	} else {
		due, _ := nextRotation(current.createdAt, current.settings.expiresAt, settings.interval, settings.beforeExpiry)
		plan.keepResults(&config, &state, due)
	}
	diags.Append(resp.Plan.Set(ctx, &plan)...)
	return diags
}

// warnings explain why a key is replaced, which the plan alone does not show.
func (d keyDecision) warnings(state *apiKeyModel, wanted *keyConfig) diag.Diagnostics {
	var diags diag.Diagnostics
	key := fmt.Sprintf("API key %q (%s) of service account %s", state.Name.ValueString(), state.ID.ValueString(), state.ServiceAccountID.ValueString())
	switch {
	case d.action == keyMint:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key Will Be Replaced", key+" no longer works: "+d.reason+". The apply creates a new key in its place, unless another live key of the account has its name.")
	case d.action == keyWarn:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key Needs Attention", key+": "+d.reason+".")
	case d.action == keyRotate && wanted.unknown:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key May Be Rotated", key+" may be rotated: "+d.reason+".")
	case d.action == keyRotate:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key Will Be Rotated", key+" will be rotated: "+d.reason+".")
	}
	return diags
}

func (m *apiKeyModel) newResults(config *apiKeyModel, wanted *keyConfig) {
	unknown := types.StringUnknown()
	m.ID, m.Key, m.Fingerprint, m.CreatedAt, m.NextRotationAt = unknown, unknown, unknown, unknown, unknown
	m.IsRevoked, m.RevokedAt = types.BoolValue(false), types.StringNull()
	if !wanted.unknown && wanted.settings.interval == 0 && wanted.settings.beforeExpiry == 0 {
		m.NextRotationAt = types.StringNull()
	}
	m.ExpiresAt = config.ExpiresAt
	if !config.ExpiresIn.IsNull() {
		m.ExpiresAt = unknown
	}
}

func (m *apiKeyModel) renewedResults(config, state *apiKeyModel, wanted *keyConfig) {
	m.newResults(config, wanted)
	m.RotatedAt, m.PreviousKeyID = types.StringUnknown(), types.StringUnknown()
	if !wanted.unknown && !wanted.settings.hasGrace {
		m.PreviousKeyID = state.PreviousKeyID
	}
	if wanted.unknown {
		// The current key may remain, and its revocation time may be in the future.
		m.RevokedAt = types.StringUnknown()
		if config.ExpiresAt.IsNull() && !state.ExpiresAt.IsNull() {
			m.ExpiresAt = types.StringUnknown()
		}
	}
}

// keepResults changes only the time of the next rotation, which depends on the configuration.
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

// IsCurrent implements crud.Steady.
func (r *apiKeyResource) IsCurrent(ctx context.Context, state *crud.Stored) bool {
	found := r.Client.ServiceAccounts.PeekKey(ctx, state.String("service_account_id"), state.String("id"))
	if found == nil || !state.HasNoWork(expiryMark) || !isTimed(state) || !state.IsNull("previous_key_id") || state.Time("created_at").Sub(found.CreatedAt.Time()).Abs() >= sameCreation {
		return false
	}
	return crud.Holds(ctx, state, apiKeyResults, found, "created_at")
}

// IsSettled implements crud.Steady: no rotation is due, and only arguments in the state determine the next one.
func (r *apiKeyResource) IsSettled(state, config *crud.Stored) bool {
	isFuture := func(name string) bool { return state.IsNull(name) || r.now().Before(state.Time(name)) }
	isLive := state.String("key") != "" && !state.Bool("is_revoked") && isFuture("expires_at")
	isFixed := !state.IsNull("rotation") && !config.IsNull("expires_at")
	return state.HasNoWork(expiryMark) && isLive && isTimed(state) && !isFixed && isFuture("next_rotation_at") && config.IsNull("expires_at") != state.IsMarked(expiryMark)
}

// isTimed reports whether the state has the time of the next rotation. Without it, a read or a plan may have to compute it.
func isTimed(state *crud.Stored) bool {
	return state.IsNull("rotation") || !state.IsNull("next_rotation_at")
}
