package serviceaccount

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/importmark"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// dueMargin makes a key due earlier if an update is planned anyway. Terraform plans again during apply; without the margin,
// a key that comes due in between would change an approved plan.
const dueMargin = 15 * time.Minute

// sameExpiry allows for rounding.
const sameExpiry = time.Second

// sameCreation allows for responses with the time rounded to the second.
const sameCreation = 2 * time.Second

// expiryMark is the private state that records whether expires_at came from the configuration. The service may set one too;
// treating that as a removed argument would rotate the key in every apply.
const expiryMark = "expires_at"

// keyAction is what an apply does with an API key.
type keyAction string

const (
	keyKeep   keyAction = "none"
	keyMint   keyAction = "mint"
	keyRotate keyAction = "rotate"
	keyAdopt  keyAction = "adopt" // Stores the configuration without a request.
	keyWarn   keyAction = "warn"
)

// keyDecision includes the field and the reason for a warning in the plan.
type keyDecision struct {
	action keyAction
	field  string
	reason string
}

// replaces reports whether the key gets a new ID and value.
func (d keyDecision) replaces() bool { return d.action == keyMint || d.action == keyRotate }

// keySettings are the arguments that determine rotation. Zero means null.
type keySettings struct {
	expiresAt    time.Time
	expiresIn    time.Duration
	neverDue     bool // Neither an expiry nor an interval is configured. A value that is unknown or invalid counts as configured.
	hasRotation  bool
	isIdle       bool // rotation has no condition that could ever rotate the key.
	triggers     map[string]string
	interval     time.Duration
	beforeExpiry time.Duration
	grace        time.Duration
	hasGrace     bool // Also true while the grace period is unknown.
}

type rotationModel struct {
	Triggers           types.Map    `tfsdk:"triggers"`
	Interval           types.String `tfsdk:"interval"`
	BeforeExpiry       types.String `tfsdk:"before_expiry"`
	GracePeriodMinutes types.Int64  `tfsdk:"grace_period_minutes"`
}

// settings also reports whether one of the arguments is unknown.
func (m *apiKeyModel) settings(ctx context.Context) (s keySettings, unknown bool, diags diag.Diagnostics) {
	s.expiresAt, s.expiresIn = parseTime(m.ExpiresAt), parseDuration(m.ExpiresIn)
	s.neverDue = m.ExpiresAt.IsNull() && m.ExpiresIn.IsNull()
	unknown = m.ExpiresAt.IsUnknown() || m.ExpiresIn.IsUnknown() || m.Rotation.IsUnknown()
	if !value.IsSet(m.Rotation) {
		return s, unknown, nil
	}
	var r rotationModel
	diags = m.Rotation.As(ctx, &r, basetypes.ObjectAsOptions{})
	s.hasRotation = true
	s.isIdle = r.Interval.IsNull() && r.BeforeExpiry.IsNull() && !r.Triggers.IsUnknown() && len(r.Triggers.Elements()) == 0
	s.neverDue = s.neverDue && r.Interval.IsNull()
	s.interval, s.beforeExpiry = parseDuration(r.Interval), parseDuration(r.BeforeExpiry)
	s.hasGrace = !r.GracePeriodMinutes.IsNull()
	s.grace = time.Duration(r.GracePeriodMinutes.ValueInt64()) * time.Minute
	unknown = unknown || r.Interval.IsUnknown() || r.BeforeExpiry.IsUnknown() || r.Triggers.IsUnknown()
	if value.IsSet(r.Triggers) {
		s.triggers = make(map[string]string, len(r.Triggers.Elements()))
		for name, element := range r.Triggers.Elements() {
			unknown = unknown || element.IsUnknown()
			s.triggers[name] = text(element)
		}
	}
	return s, unknown, diags
}

func text(v attr.Value) string {
	s, _ := v.(types.String)
	return s.ValueString()
}

type keyState struct {
	// settings are from the last create or rotation.
	settings keySettings
	// hasValue is false after an import.
	hasValue         bool
	isRevoked        bool
	revokedAt        time.Time
	createdAt        time.Time
	expiryConfigured bool
}

func (s *keyState) isExpired(now time.Time) bool {
	return !s.settings.expiresAt.IsZero() && !now.Before(s.settings.expiresAt)
}

func (s *keyState) isDead(now time.Time) bool { return s.isRevoked || s.isExpired(now) }

func (m *apiKeyModel) isDead(now time.Time) bool {
	s := keyState{isRevoked: m.IsRevoked.ValueBool(), settings: keySettings{expiresAt: parseTime(m.ExpiresAt)}}
	return s.isDead(now)
}

func (m *apiKeyModel) keyState(ctx context.Context, private importmark.PrivateState) (*keyState, diag.Diagnostics) {
	settings, _, diags := m.settings(ctx)
	mark, d := private.GetKey(ctx, expiryMark)
	diags.Append(d...)
	return &keyState{
		settings: settings, hasValue: !m.Key.IsNull(), isRevoked: m.IsRevoked.ValueBool(), revokedAt: parseTime(m.RevokedAt), createdAt: parseTime(m.CreatedAt), expiryConfigured: string(mark) == "true",
	}, diags
}

// hasFixedExpiry reports whether ignore_changes, which may include all arguments, turned the expiry in the state into an argument beside
// expires_in. A plan cannot have another value then.
func (m *apiKeyModel) hasFixedExpiry() bool { return !m.ExpiresAt.IsNull() && !m.ExpiresIn.IsNull() }

func markExpiry(ctx context.Context, private importmark.PrivateState, config *apiKeyModel) diag.Diagnostics {
	if config.ExpiresAt.IsNull() || config.hasFixedExpiry() {
		return private.SetKey(ctx, expiryMark, []byte("false"))
	}
	return private.SetKey(ctx, expiryMark, []byte("true"))
}

type keyConfig struct {
	settings keySettings
	// unknown is true if one of the settings is unknown.
	unknown bool
	// differs is true if an argument differs from the state, even if only in spelling.
	differs bool
}

// changesExpiry adopts expires_in after an import, which cannot show it.
func (c *keyConfig) changesExpiry(s *keyState) bool {
	want, have := c.settings, s.settings
	switch {
	case !want.expiresAt.IsZero():
		return have.expiresAt.IsZero() || want.expiresAt.Sub(have.expiresAt).Abs() >= sameExpiry
	case want.expiresIn != 0:
		return want.expiresIn != have.expiresIn && (have.expiresIn != 0 || s.hasValue)
	}
	return have.expiresIn != 0 || s.expiryConfigured
}

// expiryField also finds an argument that was removed.
func (c *keyConfig) expiryField(s *keyState) string {
	if c.settings.expiresAt.IsZero() && (c.settings.expiresIn != 0 || s.settings.expiresIn != 0) {
		return fieldExpiresIn
	}
	return fieldExpiresAt
}

// changedTriggers returns names only: the values may be secrets. Removing all of them changes none.
func (c *keyConfig) changedTriggers(s *keyState) []string {
	if len(c.settings.triggers) == 0 {
		return nil
	}
	names := map[string]bool{}
	for name, value := range c.settings.triggers {
		if old, ok := s.settings.triggers[name]; !ok || old != value {
			names[name] = true
		}
	}
	for name := range s.settings.triggers {
		if _, ok := c.settings.triggers[name]; !ok {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (m *apiKeyModel) differsFrom(state *apiKeyModel) bool {
	return !m.ExpiresIn.Equal(state.ExpiresIn) || !m.Rotation.Equal(state.Rotation) || !m.ExpiresAt.IsNull() && !m.ExpiresAt.Equal(state.ExpiresAt)
}

// decide is a pure function, so that a plan and its apply agree. The state is nil before the create, and the configuration
// at the destroy.
func decide(s *keyState, c *keyConfig, now time.Time) keyDecision {
	switch {
	case c == nil:
		return keyDecision{action: keyKeep, reason: "it is destroyed"}
	case s == nil:
		return keyDecision{action: keyMint, reason: "it does not exist yet"}
	case s.isDead(now):
		field, why := s.whyDead(c)
		if at := c.settings.expiresAt; !c.unknown && !at.IsZero() && !now.Before(at) {
			return keyDecision{keyWarn, fieldExpiresAt, why + ". No new key is created, because expires_at is in the past. Set a later expires_at, or use expires_in"}
		}
		return keyDecision{keyMint, field, why}
	case c.unknown:
		return keyDecision{keyRotate, fieldRotation, "some of its settings are known only during the apply"}
	case c.changesExpiry(s):
		field := c.expiryField(s)
		return keyDecision{keyRotate, field, field + " changed"}
	case !s.hasValue && c.settings.hasRotation:
		return keyDecision{keyRotate, fieldRotation, "its value is unknown since the import"}
	case len(c.changedTriggers(s)) > 0:
		return keyDecision{keyRotate, fieldTriggers, "rotation.triggers changed (" + phrase.Names(c.changedTriggers(s), 5) + ")"}
	}
	due, rule := nextRotation(s.createdAt, s.settings.expiresAt, c.settings.interval, c.settings.beforeExpiry)
	switch {
	case !due.IsZero() && !now.Before(due):
		return keyDecision{keyRotate, rule, "it was due on " + utc(due) + " (" + rule + ")"}
	case !due.IsZero() && c.differs && !now.Before(due.Add(-dueMargin)):
		return keyDecision{keyRotate, rule, "it is due on " + utc(due) + " (" + rule + "), and this change includes the rotation"}
	case !c.settings.expiresAt.IsZero() && c.settings.beforeExpiry != 0 && !now.Before(c.settings.expiresAt.Add(-c.settings.beforeExpiry)):
		return keyDecision{keyWarn, fieldExpiresAt, "it expires on " + utc(c.settings.expiresAt) + ". A rotation does not extend expires_at. Set a later expires_at, or use expires_in"}
	case c.differs:
		return keyDecision{action: keyAdopt, reason: "only arguments of the provider changed"}
	}
	return keyDecision{action: keyKeep, reason: "it is valid"}
}

// whyDead also returns the field that shows the reason.
func (s *keyState) whyDead(c *keyConfig) (field, why string) {
	switch {
	case s.isRevoked && s.revokedAt.IsZero():
		return fieldIsRevoked, "it was revoked or deleted"
	case s.isRevoked:
		return fieldIsRevoked, "it was revoked on " + utc(s.revokedAt)
	}
	return c.expiryField(s), "it expired on " + utc(s.settings.expiresAt)
}

func utc(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// nextRotation returns the zero time for never. before_expiry does not apply to a key that was created within that period:
// with a fixed expiry, every new key would be due at once.
func nextRotation(createdAt, expiresAt time.Time, interval, beforeExpiry time.Duration) (next time.Time, rule string) {
	if interval != 0 && !createdAt.IsZero() {
		next, rule = createdAt.Add(interval), fieldInterval
	}
	if beforeExpiry != 0 && !expiresAt.IsZero() {
		at := expiresAt.Add(-beforeExpiry)
		if at.After(createdAt) && (next.IsZero() || at.Before(next)) {
			next, rule = at, fieldBeforeExpiry
		}
	}
	return next, rule
}

type keyProblem struct{ field, summary, detail string }

const (
	fieldExpiresAt    = "expires_at"
	fieldExpiresIn    = "expires_in"
	fieldIsRevoked    = "is_revoked"
	fieldRotation     = "rotation"
	fieldTriggers     = "triggers"
	fieldInterval     = "interval"
	fieldBeforeExpiry = "before_expiry"
	fieldGrace        = "grace_period_minutes"
)

// check accepts unknown values, and values that a validator rejects: one mistake is one error.
func (s *keySettings) check() []keyProblem {
	var problems []keyProblem
	add := func(field, summary, detail string) { problems = append(problems, keyProblem{field, summary, detail}) }
	if s.isIdle {
		// Terraform silently drops unknown names from an object.
		add(fieldRotation, "Incomplete Rotation", "rotation requires triggers (not empty), interval, or before_expiry. Set one of them, or remove rotation. Also check the spelling: Terraform ignores unknown names here. "+
			"To set only a grace period, add a trigger that never changes, such as triggers = { v = \"1\" }. Adding it rotates an existing key once.")
	}
	if s.beforeExpiry > 0 && s.neverDue {
		add(fieldBeforeExpiry, "Missing Expiry", "before_expiry requires an expiry, but this key never expires. Set expires_in, or use interval instead.")
	}
	if s.expiresIn > 0 && s.beforeExpiry >= s.expiresIn {
		add(fieldBeforeExpiry, "Rotation Period Too Long", "before_expiry must be shorter than expires_in. Otherwise, every new key is due at once. Shorten before_expiry, or raise expires_in.")
	}
	if s.grace > maxGraceMinutes*time.Minute {
		return problems
	}
	if s.expiresIn > 0 && s.interval >= s.expiresIn {
		add(fieldInterval, "Rotation Period Too Long", "interval must be shorter than expires_in. Otherwise, the key expires before it is due. Shorten interval, or raise expires_in.")
	}
	if s.expiresIn > 0 && s.grace > s.expiresIn {
		add(fieldGrace, "Grace Period Too Long", "grace_period_minutes must not be longer than expires_in: the old key must not expire during its grace period. Shorten grace_period_minutes, or raise expires_in.")
	}
	if s.beforeExpiry > 0 && s.grace > s.beforeExpiry {
		add(fieldGrace, "Grace Period Too Long", "grace_period_minutes must not be longer than before_expiry: the old key must not expire during its grace period. Shorten grace_period_minutes, or raise before_expiry.")
	}
	return problems
}

// checkAt accepts a past expiry that did not change: the configuration of every expired key has one.
func checkAt(s *keyState, c *keyConfig, d keyDecision, now time.Time) []keyProblem {
	var problems []keyProblem
	if at := c.settings.expiresAt; !at.IsZero() && (s == nil || c.changesExpiry(s)) {
		switch remaining := at.Sub(now); {
		case remaining <= 0:
			problems = append(problems, keyProblem{fieldExpiresAt, "Expiry in the Past", "expires_at must be in the future. Set a later time, or use expires_in."})
		case c.settings.beforeExpiry >= remaining:
			problems = append(problems, keyProblem{fieldBeforeExpiry, "Rotation Period Too Long", "before_expiry must be shorter than the time until expires_at. Otherwise, the new key is due at once. Shorten before_expiry, or set a later expires_at."})
		case c.settings.interval >= remaining:
			problems = append(problems, keyProblem{fieldInterval, "Rotation Period Too Long", "interval must be shorter than the time until expires_at. Otherwise, the key expires before it is due. Shorten interval, or set a later expires_at."})
		}
	}
	if s != nil && d.action == keyRotate && !c.unknown && c.settings.grace > 0 && !s.settings.expiresAt.IsZero() && s.settings.expiresAt.Before(now.Add(c.settings.grace)) {
		problems = append(problems, keyProblem{fieldGrace, "Grace Period Too Long",
			"The key will be rotated, but expires on " + utc(s.settings.expiresAt) + ", before the grace period ends. The service refuses this. Shorten grace_period_minutes, or apply again when the key has expired."})
	}
	return problems
}

func problemDiagnostics(problems []keyProblem) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, p := range problems {
		diags.AddAttributeError(fieldPath(p.field), p.summary, p.detail)
	}
	return diags
}

func fieldPath(field string) path.Path {
	switch field {
	case fieldTriggers, fieldInterval, fieldBeforeExpiry, fieldGrace:
		return path.Root(fieldRotation).AtName(field)
	}
	return path.Root(field)
}
