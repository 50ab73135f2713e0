package serviceaccount

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// sameExpiry allows for rounding.
const sameExpiry = time.Second

// isSameCreation reports whether two times are one, with allowance for responses that are rounded to the second.
func isSameCreation(a, b time.Time) bool { return a.Sub(b).Abs() < 2*time.Second }

// keySettings are the arguments that determine rotation. Zero means null.
type keySettings struct {
	expiresAt    time.Time
	expiresIn    time.Duration
	hasRotation  bool
	isIdle       bool // rotation has no condition that could ever rotate the key.
	unknown      bool // A condition for a rotation is unknown.
	triggers     map[string]string
	interval     time.Duration
	beforeExpiry time.Duration
	grace        time.Duration
}

type rotationModel struct {
	Triggers           types.Map    `tfsdk:"triggers"`
	Interval           types.String `tfsdk:"interval"`
	BeforeExpiry       types.String `tfsdk:"before_expiry"`
	GracePeriodMinutes types.Int64  `tfsdk:"grace_period_minutes"`
}

func (m *apiKeyModel) settings(ctx context.Context) (s keySettings, diags diag.Diagnostics) {
	s.expiresAt, s.expiresIn = parseTime(m.ExpiresAt), parseDuration(m.ExpiresIn)
	s.unknown = m.ExpiresAt.IsUnknown() || m.ExpiresIn.IsUnknown() || m.Rotation.IsUnknown()
	if !value.IsSet(m.Rotation) {
		return s, nil
	}
	var r rotationModel
	diags = m.Rotation.As(ctx, &r, basetypes.ObjectAsOptions{})
	s.hasRotation = true
	s.isIdle = r.Interval.IsNull() && r.BeforeExpiry.IsNull() && !r.Triggers.IsUnknown() && len(r.Triggers.Elements()) == 0
	s.interval, s.beforeExpiry = parseDuration(r.Interval), parseDuration(r.BeforeExpiry)
	s.grace = time.Duration(r.GracePeriodMinutes.ValueInt64()) * time.Minute
	s.unknown = s.unknown || r.Interval.IsUnknown() || r.BeforeExpiry.IsUnknown() || r.Triggers.IsUnknown()
	s.triggers = map[string]string{}
	for name, element := range r.Triggers.Elements() {
		s.unknown = s.unknown || element.IsUnknown()
		s.triggers[name] = element.String()
	}
	return s, diags
}

type keyState struct {
	settings keySettings // From the last create or rotation.
	// hasValue is false after an import.
	hasValue, isRevoked, expiryConfigured bool
	createdAt                             time.Time
}

func (m *apiKeyModel) keyState(ctx context.Context, private privatestate.State) (*keyState, diag.Diagnostics) {
	settings, diags := m.settings(ctx)
	return &keyState{settings, !m.Key.IsNull(), m.IsRevoked.ValueBool(), privatestate.IsExpiryConfigured(ctx, private), parseTime(m.CreatedAt)}, diags
}

func (s *keyState) isDead(now time.Time) bool { return s.isRevoked || s.settings.isOver(now) }

// isOver reports whether the expiry is in the past: a key with it is dead, and no new key can have it.
func (s *keySettings) isOver(now time.Time) bool {
	return !s.expiresAt.IsZero() && !now.Before(s.expiresAt)
}

// hasFixedExpiry reports whether ignore_changes, which may include all arguments, turned the expiry in the state into an argument beside
// expires_in. A plan cannot have another value then. An unknown expires_at may turn out to be null.
func (m *apiKeyModel) hasFixedExpiry() bool { return value.IsSet(m.ExpiresAt) && !m.ExpiresIn.IsNull() }

func markExpiry(ctx context.Context, private privatestate.State, config *apiKeyModel) diag.Diagnostics {
	return privatestate.SetExpiryConfigured(ctx, private, !config.ExpiresAt.IsNull() && !config.hasFixedExpiry())
}

// changesExpiry adopts expires_in after an import, which cannot show it.
func (s *keySettings) changesExpiry(have *keyState) bool {
	switch old := have.settings; {
	case !s.expiresAt.IsZero():
		return old.expiresAt.IsZero() || s.expiresAt.Sub(old.expiresAt).Abs() >= sameExpiry
	case s.expiresIn != 0:
		return s.expiresIn != old.expiresIn && (old.expiresIn != 0 || have.hasValue)
	default:
		return old.expiresIn != 0 || have.expiryConfigured
	}
}

// isRenewed reports whether an apply replaces a dead key, or rotates a live one. It is a pure function, so that a plan and its apply
// agree. Removing all triggers rotates nothing.
func isRenewed(have *keyState, want *keySettings, now time.Time) bool {
	if have.isDead(now) {
		return !want.isOver(now)
	}
	if want.unknown || want.changesExpiry(have) || !have.hasValue && want.hasRotation {
		return true
	}
	if len(want.triggers) > 0 && !maps.Equal(want.triggers, have.settings.triggers) {
		return true
	}
	due := want.nextRotation(have.createdAt, have.settings.expiresAt)
	return !due.IsZero() && !now.Before(due)
}

// nextRotation returns the zero time for never. before_expiry does not apply to a key that was created within that period:
// otherwise, every new key would be due at once.
func (s *keySettings) nextRotation(createdAt, expiresAt time.Time) (next time.Time) {
	if s.interval != 0 && !createdAt.IsZero() {
		next = createdAt.Add(s.interval)
	}
	if at := expiresAt.Add(-s.beforeExpiry); s.beforeExpiry != 0 && !expiresAt.IsZero() && at.After(createdAt) && (next.IsZero() || at.Before(next)) {
		next = at
	}
	return next
}

func utc(at time.Time) string { return at.UTC().Format(time.RFC3339) }

var rotationPath = path.Root("rotation")

// check accepts unknown values, and values that a validator rejects: one mistake is one error.
func (s *keySettings) check() (diags diag.Diagnostics) {
	if s.isIdle {
		// Terraform silently drops unknown names from an object.
		diags.AddAttributeError(rotationPath, "Incomplete rotation", "rotation requires triggers (not empty), interval, or before_expiry. Set one of them, or remove rotation. Also check the spelling: Terraform ignores unknown names here. "+
			"To set only a grace period, add a trigger that never changes, such as triggers = { v = \"1\" }. Adding it rotates an existing key once.")
	}
	if s.expiresIn > 0 && s.beforeExpiry >= s.expiresIn {
		diags.AddAttributeError(rotationPath.AtName("before_expiry"), "Rotation period too long", "before_expiry must be shorter than expires_in. Otherwise, every new key is due at once. Shorten before_expiry, or raise expires_in.")
	}
	if s.expiresIn > 0 && s.interval >= s.expiresIn {
		diags.AddAttributeError(rotationPath.AtName("interval"), "Rotation period too long", "interval must be shorter than expires_in. Otherwise, the key expires before it is due. Shorten interval, or raise expires_in.")
	}
	life, name := s.expiresIn, "expires_in"
	if s.beforeExpiry > 0 && (life == 0 || s.beforeExpiry < life) {
		life, name = s.beforeExpiry, "before_expiry"
	}
	if life > 0 && s.grace > life && s.grace <= maxGraceMinutes*time.Minute {
		diags.AddAttributeError(rotationPath.AtName("grace_period_minutes"), "Grace period too long", "grace_period_minutes must not be longer than "+name+": the old key must not expire during its grace period. Shorten grace_period_minutes, or raise "+name+".")
	}
	return diags
}

// checkNow accepts a past expiry that did not change: the configuration of every expired key has one. Have is nil before the create.
func (s *keySettings) checkNow(have *keyState, isRenewed bool, now time.Time) (diags diag.Diagnostics) {
	if !s.expiresAt.IsZero() && (have == nil || s.changesExpiry(have)) {
		if s.isOver(now) {
			diags.AddAttributeError(path.Root("expires_at"), "Expiry in the past", "expires_at must be in the future. Set a later time, or use expires_in.")
		} else if s.interval >= s.expiresAt.Sub(now) {
			diags.AddAttributeError(rotationPath.AtName("interval"), "Rotation period too long", "interval must be shorter than the time until expires_at. Otherwise, the key expires before it is due. Shorten interval, or set a later expires_at.")
		}
	}
	if have != nil && isRenewed && !have.isDead(now) && !s.unknown && s.grace > 0 && !have.settings.expiresAt.IsZero() && have.settings.expiresAt.Before(now.Add(s.grace)) {
		diags.AddAttributeError(rotationPath.AtName("grace_period_minutes"), "Grace period too long",
			"The key will be rotated, but expires on "+utc(have.settings.expiresAt)+", before the grace period ends. Shorten grace_period_minutes, or apply again when the key has expired.")
	}
	return diags
}

func (r *apiKeyResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var config, plan apiKeyModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	wanted, diags := config.settings(ctx)
	resp.Diagnostics.Append(diags...)
	switch {
	case resp.Diagnostics.HasError():
		return
	case req.State.Raw.IsNull():
		resp.Diagnostics.Append(r.planCreation(ctx, &config, &plan, &wanted)...)
	default:
		resp.Diagnostics.Append(r.planUpdate(ctx, &req, &config, &plan, &wanted)...)
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// PlanIsUnchanged implements crud.Shortcut: the key works, no rotation is due, and only arguments in the state determine the next one.
func (r *apiKeyResource) PlanIsUnchanged(state, config *crud.RawObject) bool {
	if r.Client.Conn.ServiceTime().IsZero() {
		return false // ModifyPlan asks the service for its time.
	}
	now := r.now(context.Background())
	isInFuture := func(name string) bool { return state.IsNull(name) || now.Before(state.Time(name)) }
	isLive := state.String("key") != "" && !state.Bool("is_revoked") && isInFuture("expires_at")
	keepsExpiry := config.IsNull("expires_at") != privatestate.IsExpiryConfigured(context.Background(), state)
	return state.IsAtRest(privatestate.ExpiresAt) && isLive && isTimed(state) && isInFuture("next_rotation_at") && keepsExpiry
}

// isTimed reports whether the state has the time of the next rotation. Without it, a read or a plan may have to compute it.
func isTimed(state *crud.RawObject) bool {
	return state.IsNull("rotation") || !state.IsNull("next_rotation_at")
}

func (r *apiKeyResource) planCreation(ctx context.Context, config, plan *apiKeyModel, wanted *keySettings) diag.Diagnostics {
	diags := apierror.For("plan", "API key", r.Client.ServiceAccounts.CheckAccess(ctx)) // Its response has the service's time.
	plan.newResults(config, wanted)
	plan.RotatedAt, plan.PreviousKeyID = types.StringNull(), types.StringNull()
	return append(diags, wanted.checkNow(nil, true, r.now(ctx))...)
}

// planUpdate makes the results of a new key unknown, so that dependent resources are planned too. The identity does not
// change, because Terraform rejects an unknown identity.
func (r *apiKeyResource) planUpdate(ctx context.Context, req *resource.ModifyPlanRequest, config, plan *apiKeyModel, wanted *keySettings) diag.Diagnostics {
	var state apiKeyModel
	diags := req.State.Get(ctx, &state)
	have, d := state.keyState(ctx, req.Private)
	diags.Append(d...)
	if diags.HasError() || !plan.ServiceAccountID.Equal(state.ServiceAccountID) || !plan.Name.Equal(state.Name) {
		return diags // A replacement is planned as a destroy and a create.
	}
	if config.hasFixedExpiry() {
		wanted.expiresAt = time.Time{}
	}
	now := r.now(ctx)
	renewed := isRenewed(have, wanted, now)
	warn := func(summary, then string) {
		problem := "needs a new value"
		if have.isRevoked {
			problem = "no longer works: it was revoked or deleted"
		} else if have.isDead(now) {
			problem = "no longer works: it expired on " + utc(have.settings.expiresAt)
		}
		diags.AddWarning(summary, fmt.Sprintf("API key %q (%s) of service account %s %s. %s", state.Name.ValueString(), state.ID.ValueString(), state.ServiceAccountID.ValueString(), problem, then))
	}
	switch {
	case renewed && config.hasFixedExpiry():
		renewed = false
		warn("API key needs attention", "No new key is created, because ignore_changes includes expires_at, and a new key would expire at another time. Remove expires_at, or all, from ignore_changes.")
	case have.isDead(now) && !renewed:
		warn("API key needs attention", "No new key is created, because expires_at is in the past. Set a later expires_at, or use expires_in.")
	case have.isDead(now): // A rotation needs no warning: it happens as configured.
		warn("API key will be replaced", "The apply creates a new key in its place, unless another live key of the account has its name.")
	}
	diags.Append(wanted.checkNow(have, renewed, now)...)
	if !renewed {
		plan.keepResults(config, &state, wanted.nextRotation(have.createdAt, have.settings.expiresAt))
		return diags
	}
	plan.newResults(config, wanted)
	plan.RotatedAt, plan.PreviousKeyID = types.StringUnknown(), types.StringUnknown()
	if wanted.unknown { // The current key may remain.
		plan.IsRevoked, plan.RevokedAt = types.BoolUnknown(), types.StringUnknown()
		if config.ExpiresAt.IsNull() && !state.ExpiresAt.IsNull() {
			plan.ExpiresAt = types.StringUnknown()
		}
	}
	return diags
}

func (m *apiKeyModel) newResults(config *apiKeyModel, wanted *keySettings) {
	unknown := types.StringUnknown()
	m.ID, m.Key, m.Fingerprint, m.CreatedAt, m.NextRotationAt = unknown, unknown, unknown, unknown, unknown
	m.IsRevoked, m.RevokedAt = types.BoolValue(false), types.StringNull()
	if !wanted.unknown && wanted.interval == 0 && wanted.beforeExpiry == 0 {
		m.NextRotationAt = types.StringNull()
	}
	m.ExpiresAt = config.ExpiresAt
	if !config.ExpiresIn.IsNull() {
		m.ExpiresAt = unknown
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
