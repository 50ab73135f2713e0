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

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// dueMargin is how long before its time a key counts as due where an update is planned anyway. The plan is computed
// again during apply; without the margin, a key that comes due in between would change a plan that was approved.
const dueMargin = 15 * time.Minute

// sameExpiry is how far an expiry may differ from the configured one, as by rounding, without being another one.
const sameExpiry = time.Second

// sameCreation is how far two times of a key's creation may differ, one by the service's clock to the second.
const sameCreation = 2 * time.Second

// expiryMark is the private state that says that expires_at came from the configuration: the service may set one too,
// and taking that for a removed argument would rotate the key for ever.
const expiryMark = "expires_at"

// keyAction is what an apply does with an API key.
type keyAction string

const (
	keyKeep   keyAction = "none"
	keyMint   keyAction = "mint"
	keyRotate keyAction = "rotate"
	keyAdopt  keyAction = "adopt" // Takes the configuration over into the state, without a request.
	keyWarn   keyAction = "warn"  // As none, but there is something to be told.
)

// keyDecision is an action and, for people, why: the field that led to it, what is wrong, and for keyWarn what to do about it.
type keyDecision struct {
	action keyAction
	field  string
	reason string
}

// replaces reports that the key gets another ID and value.
func (d keyDecision) replaces() bool { return d.action == keyMint || d.action == keyRotate }

// keySettings are the arguments that decide about rotation. Zero is null.
type keySettings struct {
	expiresAt    time.Time
	expiresIn    time.Duration
	hasRotation  bool
	isIdle       bool              // There is a rotation, but nothing in it that would ever cause one.
	triggers     map[string]string // Nil is null.
	interval     time.Duration
	beforeExpiry time.Duration
	grace        time.Duration
	hasGrace     bool // The grace period is set, if only to what is not known yet.
}

type rotationModel struct {
	Triggers           types.Map    `tfsdk:"triggers"`
	Interval           types.String `tfsdk:"interval"`
	BeforeExpiry       types.String `tfsdk:"before_expiry"`
	GracePeriodMinutes types.Int64  `tfsdk:"grace_period_minutes"`
}

// settings reads the arguments that decide about rotation, and reports whether one of them is not known yet.
func (m *apiKeyModel) settings(ctx context.Context) (s keySettings, unknown bool, diags diag.Diagnostics) {
	s.expiresAt, s.expiresIn = parseTime(m.ExpiresAt), parseDuration(m.ExpiresIn)
	unknown = m.ExpiresAt.IsUnknown() || m.ExpiresIn.IsUnknown() || m.Rotation.IsUnknown()
	if !value.IsSet(m.Rotation) {
		return s, unknown, nil
	}
	var r rotationModel
	diags = m.Rotation.As(ctx, &r, basetypes.ObjectAsOptions{})
	s.hasRotation = true
	s.isIdle = r.Interval.IsNull() && r.BeforeExpiry.IsNull() && !r.Triggers.IsUnknown() && len(r.Triggers.Elements()) == 0
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

// keyState is what the state knows of a key.
type keyState struct {
	// settings are those that the present key was made with; expiresAt is the key's own.
	settings keySettings
	// hasValue is false after an import.
	hasValue  bool
	isRevoked bool
	revokedAt time.Time
	// createdAt is zero if it is not known.
	createdAt time.Time
	// expiryConfigured says that expires_at came from the configuration and not from the service.
	expiryConfigured bool
}

func (s *keyState) isExpired(now time.Time) bool {
	return !s.settings.expiresAt.IsZero() && !now.Before(s.settings.expiresAt)
}

func (s *keyState) isDead(now time.Time) bool { return s.isRevoked || s.isExpired(now) }

// keyState is what a state says about the key.
func (m *apiKeyModel) keyState(ctx context.Context, private adopt.Private) (*keyState, diag.Diagnostics) {
	settings, _, diags := m.settings(ctx)
	mark, d := private.GetKey(ctx, expiryMark)
	diags.Append(d...)
	return &keyState{
		settings: settings, hasValue: !m.Key.IsNull(), isRevoked: m.IsRevoked.ValueBool(), revokedAt: parseTime(m.RevokedAt), createdAt: parseTime(m.CreatedAt), expiryConfigured: string(mark) == "true",
	}, diags
}

// markExpiry remembers whether expires_at came from the configuration.
func markExpiry(ctx context.Context, private adopt.Private, config *apiKeyModel) diag.Diagnostics {
	if config.ExpiresAt.IsNull() {
		return private.SetKey(ctx, expiryMark, []byte("false"))
	}
	return private.SetKey(ctx, expiryMark, []byte("true"))
}

// keyConfig is what the configuration asks for.
type keyConfig struct {
	settings keySettings
	// unknown says that one of the settings is not known yet.
	unknown bool
	// differs says that an argument is not what it is in the state, if only in its spelling.
	differs bool
}

// changesExpiry reports that the configuration wants another expiry than the key has. After an import nothing is known
// of expires_in, so it is adopted.
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

// expiryField is the argument that the expiry comes from, or came from if it was removed.
func (c *keyConfig) expiryField(s *keyState) string {
	if c.settings.expiresAt.IsZero() && (c.settings.expiresIn != 0 || s.settings.expiresIn != 0) {
		return fieldExpiresIn
	}
	return fieldExpiresAt
}

// changedTriggers are the names of the triggers that differ; their values may be secrets. Removing all changes none.
func (c *keyConfig) changedTriggers(s *keyState) []string {
	if c.settings.triggers == nil {
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

// differsFrom reports that an argument is not what the state has.
func (m *apiKeyModel) differsFrom(state *apiKeyModel) bool {
	return !m.ExpiresIn.Equal(state.ExpiresIn) || !m.Rotation.Equal(state.Rotation) || !m.ExpiresAt.IsNull() && !m.ExpiresAt.Equal(state.ExpiresAt)
}

// decide says what an apply does with a key. It depends on nothing but what it is given: the state (nil before the
// creation), the configuration (nil at the destruction) and the time.
func decide(s *keyState, c *keyConfig, now time.Time) keyDecision {
	switch {
	case c == nil:
		return keyDecision{action: keyKeep, reason: "it is destroyed"}
	case s == nil:
		return keyDecision{action: keyMint, reason: "it does not exist yet"}
	case s.isDead(now):
		field, why := s.death(c)
		if at := c.settings.expiresAt; !c.unknown && !at.IsZero() && !now.Before(at) {
			return keyDecision{keyWarn, fieldExpiresAt, why + ", and no new key is minted because expires_at is over; set a later expires_at, or expires_in"}
		}
		return keyDecision{keyMint, field, why}
	case c.unknown:
		return keyDecision{keyRotate, fieldRotation, "what decides about a rotation is known only during apply"}
	case c.changesExpiry(s):
		field := c.expiryField(s)
		return keyDecision{keyRotate, field, field + " is changed"}
	case !s.hasValue && c.settings.hasRotation:
		return keyDecision{keyRotate, fieldRotation, "its value is not known since its import"}
	case len(c.changedTriggers(s)) > 0:
		return keyDecision{keyRotate, fieldTriggers, "rotation.triggers is changed (" + phrase.Names(c.changedTriggers(s), 5) + ")"}
	}
	due, rule := nextRotation(s.createdAt, s.settings.expiresAt, c.settings.interval, c.settings.beforeExpiry)
	switch {
	case !due.IsZero() && !now.Before(due):
		return keyDecision{keyRotate, rule, "it is due since " + utc(due) + " by rotation." + rule}
	case !due.IsZero() && c.differs && !now.Before(due.Add(-dueMargin)):
		return keyDecision{keyRotate, rule, "it is due at " + utc(due) + " by rotation." + rule + ", and is rotated with this change"}
	case !c.settings.expiresAt.IsZero() && c.settings.beforeExpiry != 0 && !now.Before(c.settings.expiresAt.Add(-c.settings.beforeExpiry)):
		return keyDecision{keyWarn, fieldExpiresAt, "it expires at " + utc(c.settings.expiresAt) + ", and a rotation does not help because expires_at stays the same; set a later expires_at, or expires_in"}
	case c.differs:
		return keyDecision{action: keyAdopt, reason: "only arguments of the provider are changed"}
	}
	return keyDecision{action: keyKeep, reason: "it is valid"}
}

// death is the field that shows why a dead key is dead, and why in words.
func (s *keyState) death(c *keyConfig) (field, why string) {
	switch {
	case s.isRevoked && s.revokedAt.IsZero():
		return fieldIsRevoked, "it was revoked, or deleted at the service"
	case s.isRevoked:
		return fieldIsRevoked, "it was revoked at " + utc(s.revokedAt)
	}
	return c.expiryField(s), "it expired at " + utc(s.settings.expiresAt)
}

func utc(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// nextRotation is when a key is due by time, and by which rule; the zero time is never. A key that was born within the
// period before its expiry is not due by that: with a fixed expiry it would be due for ever.
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

// keyProblem is an error in the arguments, at the argument that the field names.
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

// check finds what is wrong with the arguments at any time. What is unknown is zero and taken for right.
func (s *keySettings) check(expiryUnknown bool) []keyProblem {
	var problems []keyProblem
	add := func(field, summary, detail string) { problems = append(problems, keyProblem{field, summary, detail}) }
	if s.isIdle {
		// Terraform takes what it does not know out of an object without a word.
		add(fieldRotation, "Rotation That Never Happens", "rotation has none of triggers, interval and before_expiry, or only empty triggers, so it would never rotate the key by itself. "+
			"A misspelt name may be the cause: Terraform ignores names that it does not know here. Set one of the three, or remove rotation. "+
			"To keep a grace period for the rotations that a changed expiry causes, add a trigger that never changes, such as triggers = { v = \"1\" }; a key that exists is rotated once then.")
	}
	if s.beforeExpiry != 0 && s.interval == 0 && s.expiresAt.IsZero() && s.expiresIn == 0 && !expiryUnknown {
		add(fieldBeforeExpiry, "Missing Expiry", "before_expiry rotates a key before it expires, but this key never does. Set expires_in, or use interval instead.")
	}
	if s.expiresIn != 0 && s.beforeExpiry >= s.expiresIn {
		add(fieldBeforeExpiry, "Rotation Before the Key's Whole Life", "before_expiry must be shorter than expires_in: every new key would be due at once. Shorten before_expiry or lengthen expires_in.")
	}
	if s.expiresIn != 0 && s.grace > s.expiresIn {
		add(fieldGrace, "Grace Period Longer Than the Key's Life", "The service refuses a grace period that the old key does not live to see. Lengthen expires_in or shorten grace_period_minutes.")
	}
	if s.beforeExpiry != 0 && s.grace > s.beforeExpiry {
		add(fieldGrace, "Grace Period Longer Than the Key's Life", "The service refuses a grace period that the old key does not live to see, and before_expiry leaves it less than that. Lengthen before_expiry or shorten grace_period_minutes.")
	}
	return problems
}

// checkAt finds what is wrong with a plan made now. An expiry that is over is wrong only where it is new: it is in the
// configuration of every key that has expired.
func checkAt(s *keyState, c *keyConfig, d keyDecision, now time.Time) []keyProblem {
	var problems []keyProblem
	if at := c.settings.expiresAt; !at.IsZero() && (s == nil || c.changesExpiry(s)) {
		switch left := at.Sub(now); {
		case left <= 0:
			problems = append(problems, keyProblem{fieldExpiresAt, "Expiry in the Past", "expires_at is over, so the key would be dead at birth. Set a time in the future, or use expires_in."})
		case c.settings.beforeExpiry >= left:
			problems = append(problems, keyProblem{fieldBeforeExpiry, "Rotation Before the Key's Whole Life", "before_expiry must be shorter than the time from now to expires_at: the new key would be due at once. Shorten before_expiry or set a later expires_at."})
		}
	}
	if s != nil && d.action == keyRotate && !c.unknown && c.settings.grace > 0 && !s.settings.expiresAt.IsZero() && s.settings.expiresAt.Before(now.Add(c.settings.grace)) {
		problems = append(problems, keyProblem{fieldGrace, "Grace Period Longer Than the Key's Life",
			"The key is to be rotated, and expires at " + utc(s.settings.expiresAt) + ", before the grace period ends; the service refuses that. Shorten grace_period_minutes, or wait until the key has expired: a new one is minted then."})
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
