package serviceaccount

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// planCreation checks what a new key is asked for, and says what the plan can know of its creation.
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

// planUpdate shows what decide says. A key that is to be replaced gets unknown results where they change, so that what
// depends on them is planned too; any other keeps its results. The identity stays as it is: Terraform refuses an unknown one.
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
	known, d := state.keyState(ctx, req.Private)
	diags.Append(d...)
	if diags.HasError() || !plan.ServiceAccountID.Equal(state.ServiceAccountID) || !plan.Name.Equal(state.Name) {
		return diags // Another account or name replaces the resource, which is planned as a destruction and a creation.
	}
	wanted := &keyConfig{settings: settings, unknown: unknown, differs: config.differsFrom(&state)}

	now := r.now()
	decision := decide(known, wanted, now)
	tflog.Debug(ctx, "Decided about an API key", map[string]any{"id": state.ID.ValueString(), "action": string(decision.action), "reason": decision.reason})
	diags.Append(problemDiagnostics(checkAt(known, wanted, decision, now))...)
	left := r.successor(ctx, &state, config.request(now))
	diags.Append(setSuccessor(ctx, resp.Private, left)...)
	diags.Append(decision.warnings(&state, wanted, left, now)...)
	if decision.replaces() {
		plan.renewedResults(&config, &state, wanted, decision.action)
	} else {
		due, _ := nextRotation(known.createdAt, known.settings.expiresAt, settings.interval, settings.beforeExpiry)
		plan.keepResults(&config, &state, due)
	}
	diags.Append(resp.Plan.Set(ctx, &plan)...)
	return diags
}

// warnings tell what a plan alone does not show: why a key is dead or rotated and since when, which other key an apply
// revokes, and what nothing is done about.
func (d keyDecision) warnings(state *apiKeyModel, wanted *keyConfig, left *serviceaccounts.APIKey, now time.Time) diag.Diagnostics {
	var diags diag.Diagnostics
	text := "API key " + strconv.Quote(state.Name.ValueString()) + " (" + state.ID.ValueString() + ") of service account " + state.ServiceAccountID.ValueString() + ": " + d.reason
	switch {
	case d.action == keyMint && left != nil:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key Is Dead", text+". A new key is minted in its place. "+revokesSuccessor(left))
	case d.action == keyMint:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key Is Dead", text+". A new key is minted in its place.")
	case d.action == keyWarn:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key Needs Attention", text+".")
	case d.action == keyRotate && wanted.unknown:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key May Be Rotated", text+".")
	case d.action == keyRotate:
		diags.AddAttributeWarning(fieldPath(d.field), "API Key Is Rotated", text+".")
	}
	if d.action == keyRotate && !state.PreviousKeyID.IsNull() && now.Before(parseTime(state.RotatedAt).Add(maxGraceMinutes*time.Minute)) {
		diags.AddAttributeWarning(path.Root("previous_key_id"), "Grace Period of API Key Ends Early", "The rotation of API key "+state.ID.ValueString()+" revokes the key before it, "+state.PreviousKeyID.ValueString()+
			", which lives out its grace period: only one previous key lives on.")
	}
	return diags
}

// planDestruction names the key that is revoked besides those in the state.
func (r *apiKeyResource) planDestruction(ctx context.Context, req *resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) diag.Diagnostics {
	var state apiKeyModel
	diags := req.State.Get(ctx, &state)
	if diags.HasError() {
		return diags
	}
	left := r.successor(ctx, &state, state.request(r.now()))
	diags.Append(setSuccessor(ctx, resp.Private, left)...)
	if left != nil {
		diags.AddWarning("Another API Key Is Revoked", "Destroying API key "+state.ID.ValueString()+": "+revokesSuccessor(left))
	}
	return diags
}

// successor is what an interrupted rotation of a dead key left that asked for the same as n. Nil where nothing is known of it.
func (r *apiKeyResource) successor(ctx context.Context, state *apiKeyModel, n serviceaccounts.NewAPIKey) *serviceaccounts.APIKey {
	if !state.IsRevoked.ValueBool() {
		return nil
	}
	keys, err := r.Client.ServiceAccounts.KnownKeysNamed(ctx, state.ServiceAccountID.ValueString(), state.Name.ValueString())
	if err != nil {
		tflog.Debug(ctx, "What a rotation may have left cannot be looked up", map[string]any{"id": state.ID.ValueString(), "error": err.Error()})
	}
	return serviceaccounts.Successor(keys, state.ID.ValueString(), n, r.now())
}

func revokesSuccessor(left *serviceaccounts.APIKey) string {
	return fmt.Sprintf("API key %s (%q, created at %s) was made when that one ended, as by a rotation, and its value is not in the state: it is revoked.", left.ID, left.Name, left.CreatedAt.Time().Format(time.RFC3339))
}

// successorMark is the private state of a plan that holds the ID of the key that the plan names. No other is revoked.
const successorMark = "revokes"

func setSuccessor(ctx context.Context, private adopt.Private, left *serviceaccounts.APIKey) diag.Diagnostics {
	if left == nil {
		return private.SetKey(ctx, successorMark, nil)
	}
	return private.SetKey(ctx, successorMark, []byte(strconv.Quote(left.ID)))
}

func getSuccessor(ctx context.Context, private adopt.Private) string {
	mark, _ := private.GetKey(ctx, successorMark)
	id, err := strconv.Unquote(string(mark))
	if err != nil {
		return ""
	}
	return id
}

// newResults plans the results of a key that is to be made: unknown, except for what is the same of every new key.
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

// renewedResults plans the results of a key that takes the place of another one.
func (m *apiKeyModel) renewedResults(config, state *apiKeyModel, wanted *keyConfig, action keyAction) {
	m.newResults(config, wanted)
	m.RotatedAt, m.PreviousKeyID = types.StringUnknown(), types.StringUnknown()
	if wanted.unknown {
		// The present key may stay after all, and its time of revocation may be set ahead.
		m.RevokedAt = types.StringUnknown()
		if config.ExpiresAt.IsNull() && !state.ExpiresAt.IsNull() {
			m.ExpiresAt = types.StringUnknown()
		}
	}
	// Until the apply a key that is to be rotated may die, which spares the one before it.
	if action == keyMint || !wanted.unknown && !wanted.settings.hasGrace && state.PreviousKeyID.IsNull() {
		m.PreviousKeyID = state.PreviousKeyID
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
