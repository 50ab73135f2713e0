package serviceaccount

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var born = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// usual returns the settings of the keys in the table: expiry after 30 days, rotation 7 days before it, and every 20 days.
func usual() keySettings {
	return keySettings{expiresIn: 30 * day, hasRotation: true, triggers: map[string]string{"v": "1"}, interval: 20 * day, beforeExpiry: 7 * day, grace: 5 * time.Minute}
}

func madeWith(s keySettings) *keyState {
	if s.expiresIn != 0 {
		s.expiresAt = born.Add(s.expiresIn)
	}
	return &keyState{settings: s, hasValue: true, createdAt: born, expiryConfigured: s.expiresIn == 0 && !s.expiresAt.IsZero()}
}

// TestDecide_everyStateInEveryPhase covers every case in which a key is rotated. Whether a phase sees that a key was revoked
// or deleted outside Terraform depends on the refresh. A plan with -refresh-only never calls decide.
func TestDecide_everyStateInEveryPhase(t *testing.T) {
	t.Parallel()
	type phases struct {
		plan      keyAction // After a refresh, without other changes.
		apply     keyAction // The same plan, computed again a moment later.
		update    keyAction // With another argument changed.
		noRefresh keyAction // plan -refresh=false: what happened elsewhere is not seen.
		imported  keyAction // The value is unknown, and no rotation is configured.
		rotated   keyAction // The value is unknown, and a rotation is configured.
		destroy   keyAction
	}
	for name, tc := range map[string]struct {
		age    time.Duration
		change func(*keyState)
		want   phases
	}{
		"valid":            {age: day, want: phases{keyKeep, keyKeep, keyAdopt, keyKeep, keyAdopt, keyRotate, keyKeep}},
		"16 minutes early": {age: 20*day - 16*time.Minute, want: phases{keyKeep, keyKeep, keyAdopt, keyKeep, keyAdopt, keyRotate, keyKeep}},
		"nearly due":       {age: 20*day - 14*time.Minute, want: phases{keyKeep, keyKeep, keyRotate, keyKeep, keyAdopt, keyRotate, keyKeep}},
		"due":              {age: 20 * day, want: phases{keyRotate, keyRotate, keyRotate, keyRotate, keyAdopt, keyRotate, keyKeep}},
		"expired":          {age: 30 * day, want: phases{keyMint, keyMint, keyMint, keyMint, keyMint, keyMint, keyKeep}},
		"revoked": {age: day, change: func(s *keyState) { s.isRevoked = true },
			want: phases{keyMint, keyMint, keyMint, keyKeep, keyMint, keyMint, keyKeep}},
		"gone": {age: day, change: func(s *keyState) { s.isRevoked = true; s.createdAt = time.Time{} },
			want: phases{keyMint, keyMint, keyMint, keyKeep, keyMint, keyMint, keyKeep}},
		"unreadable": {age: 21 * day, change: func(s *keyState) { s.createdAt = time.Time{} }, // The list response had no creation time.
			want: phases{keyKeep, keyKeep, keyAdopt, keyRotate, keyAdopt, keyRotate, keyKeep}},
	} {
		now := born.Add(tc.age)
		seen := func(config keySettings) *keyState {
			s := madeWith(usual())
			s.settings.triggers = config.triggers
			if tc.change != nil {
				tc.change(s)
			}
			return s
		}
		bare := keySettings{expiresIn: 30 * day}
		unknownValue := func(config keySettings) *keyState {
			s := seen(config)
			s.hasValue, s.settings.expiresIn, s.settings.hasRotation = false, 0, false
			return s
		}
		want, wanted := tc.want, &keyConfig{settings: usual()}
		for phase, got := range map[string][2]keyAction{
			"plan":                 {want.plan, decide(seen(usual()), wanted, now).action},
			"apply":                {want.apply, decide(seen(usual()), wanted, now.Add(time.Second)).action},
			"update":               {want.update, decide(seen(usual()), &keyConfig{settings: usual(), differs: true}, now).action},
			"refresh=false":        {want.noRefresh, decide(madeWith(usual()), wanted, now).action},
			"import":               {want.imported, decide(unknownValue(bare), &keyConfig{settings: bare, differs: true}, now).action},
			"import with rotation": {want.rotated, decide(unknownValue(usual()), wanted, now).action},
			"destroy":              {want.destroy, decide(seen(usual()), nil, now).action},
			"create":               {keyMint, decide(nil, wanted, now).action},
		} {
			if got[0] != got[1] {
				t.Errorf("%s, %s: %s, want %s", name, phase, got[1], got[0])
			}
		}
	}
}

func TestDecide_changedArguments(t *testing.T) {
	t.Parallel()
	fixed := keySettings{expiresAt: born.Add(30 * day)}
	with := func(s keySettings, change func(*keySettings)) keySettings {
		change(&s)
		return s
	}
	for name, tc := range map[string]struct {
		state  *keyState
		config keySettings
		after  time.Duration
		want   keyAction
	}{
		"expires_in changed":                   {madeWith(usual()), with(usual(), func(s *keySettings) { s.expiresIn = 40 * day }), day, keyRotate},
		"expires_in removed":                   {madeWith(keySettings{expiresIn: day * 30}), keySettings{}, day, keyRotate},
		"expires_in added":                     {madeWith(keySettings{}), keySettings{expiresIn: day}, day, keyRotate},
		"expires_in to the same expires_at":    {madeWith(keySettings{expiresIn: day * 30}), fixed, day, keyAdopt},
		"expires_in adopted after an import":   {&keyState{createdAt: born}, keySettings{expiresIn: day}, day, keyAdopt},
		"expires_at moved":                     {madeWith(fixed), keySettings{expiresAt: born.Add(31 * day)}, day, keyRotate},
		"expires_at rounded by the service":    {madeWith(fixed), keySettings{expiresAt: born.Add(30*day + 400*time.Millisecond)}, day, keyAdopt},
		"expires_at added":                     {madeWith(keySettings{}), fixed, day, keyRotate},
		"expires_at removed":                   {madeWith(fixed), keySettings{}, day, keyRotate},
		"expires_at set by the service":        {&keyState{settings: fixed, hasValue: true, createdAt: born}, keySettings{}, day, keyAdopt},
		"expires_at of an import":              {&keyState{settings: fixed, createdAt: born}, fixed, day, keyAdopt},
		"expires_at of an import moved":        {&keyState{settings: fixed, createdAt: born}, keySettings{expiresAt: born.Add(day * 40)}, day, keyRotate},
		"expired, expires_at over":             {madeWith(fixed), fixed, 31 * day, keyWarn},
		"expired, expires_at later":            {madeWith(fixed), keySettings{expiresAt: born.Add(40 * day)}, 31 * day, keyMint},
		"expired, expires_at removed":          {madeWith(fixed), keySettings{}, 31 * day, keyMint},
		"triggers added":                       {madeWith(keySettings{}), keySettings{hasRotation: true, triggers: map[string]string{"v": "1"}}, day, keyRotate},
		"empty triggers added":                 {madeWith(keySettings{}), keySettings{hasRotation: true, triggers: map[string]string{}}, day, keyAdopt},
		"triggers changed":                     {madeWith(usual()), with(usual(), func(s *keySettings) { s.triggers = map[string]string{"v": "2"} }), day, keyRotate},
		"triggers removed":                     {madeWith(usual()), with(usual(), func(s *keySettings) { s.triggers = nil }), day, keyAdopt},
		"triggers emptied":                     {madeWith(usual()), with(usual(), func(s *keySettings) { s.triggers = map[string]string{} }), day, keyAdopt},
		"a trigger removed":                    {madeWith(with(usual(), func(s *keySettings) { s.triggers = map[string]string{"v": "1", "w": "2"} })), usual(), day, keyRotate},
		"rotation removed":                     {madeWith(usual()), keySettings{expiresIn: 30 * day}, 25 * day, keyAdopt},
		"interval shortened to what is over":   {madeWith(usual()), with(usual(), func(s *keySettings) { s.interval = day }), 2 * day, keyRotate},
		"grace changed":                        {madeWith(usual()), with(usual(), func(s *keySettings) { s.grace = 0 }), day, keyAdopt},
		"before a fixed expiry":                {madeWith(fixed), with(fixed, func(s *keySettings) { s.hasRotation, s.beforeExpiry = true, 7*day }), 23 * day, keyRotate},
		"before a fixed expiry, rotated there": {&keyState{settings: fixed, hasValue: true, createdAt: born.Add(24 * day)}, with(fixed, func(s *keySettings) { s.hasRotation, s.beforeExpiry = true, 7*day }), 25 * day, keyWarn},
	} {
		d := decide(tc.state, &keyConfig{settings: tc.config, differs: true}, born.Add(tc.after))
		if d.action != tc.want || d.reason == "" {
			t.Errorf("%s: %+v, want %s", name, d, tc.want)
		}
	}
	if d := decide(madeWith(usual()), &keyConfig{settings: usual(), unknown: true}, born); d.action != keyRotate {
		t.Errorf("what is not known yet: %+v", d)
	}
	revoked := madeWith(fixed)
	revoked.isRevoked = true
	if d := decide(revoked, &keyConfig{unknown: true}, born); d.action != keyMint {
		t.Errorf("a dead key with what is not known yet: %+v", d)
	}
}

// The plan says which key is replaced, why, and since when.
func TestDecide_namesTimeAndRule(t *testing.T) {
	t.Parallel()
	with := func(change func(*keySettings)) keySettings {
		s := usual()
		change(&s)
		return s
	}
	fixed := keySettings{expiresAt: born.Add(30 * day), hasRotation: true, beforeExpiry: 7 * day}
	revoked := func(at time.Time) *keyState {
		s := madeWith(usual())
		s.isRevoked, s.revokedAt = true, at
		return s
	}
	for name, tc := range map[string]struct {
		state          *keyState
		config         keySettings
		after          time.Duration
		field, mention string
	}{
		"interval":           {madeWith(usual()), usual(), 22 * day, fieldInterval, "it was due on 2026-03-21T12:00:00Z (interval)"},
		"before_expiry":      {madeWith(usual()), with(func(s *keySettings) { s.interval = 0 }), 25 * day, fieldBeforeExpiry, "it was due on 2026-03-24T12:00:00Z (before_expiry)"},
		"soon":               {madeWith(usual()), usual(), 20*day - time.Minute, fieldInterval, "it is due on 2026-03-21T12:00:00Z (interval)"},
		"expired":            {madeWith(usual()), usual(), 31 * day, fieldExpiresIn, "expired on 2026-03-31T12:00:00Z"},
		"expired, fixed":     {madeWith(fixed), keySettings{}, 31 * day, fieldExpiresAt, "expired on 2026-03-31T12:00:00Z"},
		"expired, not moved": {madeWith(fixed), fixed, 31 * day, fieldExpiresAt, "expired on 2026-03-31T12:00:00Z. No new key is created"},
		"expires soon":       {&keyState{settings: fixed, hasValue: true, createdAt: born.Add(24 * day)}, fixed, 25 * day, fieldExpiresAt, "expires on 2026-03-31T12:00:00Z"},
		"revoked":            {revoked(born.Add(day)), usual(), 2 * day, fieldIsRevoked, "revoked on 2026-03-02T12:00:00Z"},
		"deleted":            {revoked(time.Time{}), usual(), 2 * day, fieldIsRevoked, "revoked or deleted"},
		"expires_in changed": {madeWith(usual()), with(func(s *keySettings) { s.expiresIn = 40 * day }), day, fieldExpiresIn, "expires_in changed"},
		"expires_in removed": {madeWith(usual()), with(func(s *keySettings) { s.expiresIn = 0 }), day, fieldExpiresIn, "expires_in changed"},
		"expires_at changed": {madeWith(fixed), keySettings{expiresAt: born.Add(40 * day)}, day, fieldExpiresAt, "expires_at changed"},
		"expires_at removed": {madeWith(fixed), keySettings{}, day, fieldExpiresAt, "expires_at changed"},
		"triggers":           {madeWith(usual()), with(func(s *keySettings) { s.triggers = map[string]string{"v": "secret", "w": "secret"} }), day, fieldTriggers, "rotation.triggers changed (v, w)"},
		"a trigger removed":  {madeWith(with(func(s *keySettings) { s.triggers = map[string]string{"v": "1", "w": "2"} })), usual(), day, fieldTriggers, "rotation.triggers changed (w)"},
		"imported":           {&keyState{createdAt: born}, usual(), day, fieldRotation, "its value is unknown since the import"},
	} {
		d := decide(tc.state, &keyConfig{settings: tc.config, differs: true}, born.Add(tc.after))
		if d.field != tc.field || !strings.Contains(d.reason, tc.mention) || strings.Contains(d.reason, "secret") {
			t.Errorf("%s: %+v, want %q at %s", name, d, tc.mention, tc.field)
		}
	}
}

func TestNextRotation(t *testing.T) {
	t.Parallel()
	expiry := born.Add(30 * day)
	for name, tc := range map[string]struct {
		created, expires time.Time
		interval, before time.Duration
		want             time.Time
		rule             string
	}{
		"never":                    {created: born, expires: expiry},
		"interval":                 {created: born, interval: day, want: born.Add(day), rule: fieldInterval},
		"before the expiry":        {created: born, expires: expiry, before: day, want: born.Add(29 * day), rule: fieldBeforeExpiry},
		"interval first":           {created: born, expires: expiry, interval: 2 * day, before: day, want: born.Add(2 * day), rule: fieldInterval},
		"expiry first":             {created: born, expires: expiry, interval: 29 * day, before: 2 * day, want: born.Add(28 * day), rule: fieldBeforeExpiry},
		"no expiry":                {created: born, before: day},
		"creation not known":       {expires: expiry, interval: day, before: day, want: born.Add(29 * day), rule: fieldBeforeExpiry},
		"born in the last moments": {created: born.Add(29 * day), expires: expiry, before: 2 * day},
	} {
		if got, rule := nextRotation(tc.created, tc.expires, tc.interval, tc.before); !got.Equal(tc.want) || rule != tc.rule {
			t.Errorf("%s: %s by %s, want %s by %s", name, got, rule, tc.want, tc.rule)
		}
	}
}

// An unknown value may cause a rotation during the apply.
func TestSettings_idleRotation(t *testing.T) {
	t.Parallel()
	null := rotationModel{Triggers: types.MapNull(types.StringType)}
	with := func(change func(*rotationModel)) rotationModel {
		r := null
		change(&r)
		return r
	}
	for name, tc := range map[string]struct {
		rotation rotationModel
		want     bool
	}{
		"nothing":        {null, true},
		"a grace period": {with(func(r *rotationModel) { r.GracePeriodMinutes = types.Int64Value(5) }), true},
		"empty triggers": {with(func(r *rotationModel) { r.Triggers = types.MapValueMust(types.StringType, nil) }), true},
		"triggers": {with(func(r *rotationModel) {
			r.Triggers = types.MapValueMust(types.StringType, map[string]attr.Value{"v": types.StringUnknown()})
		}), false},
		"unknown triggers":  {with(func(r *rotationModel) { r.Triggers = types.MapUnknown(types.StringType) }), false},
		"an interval":       {with(func(r *rotationModel) { r.Interval = types.StringValue("1d") }), false},
		"unknown interval":  {with(func(r *rotationModel) { r.Interval = types.StringUnknown() }), false},
		"unknown before it": {with(func(r *rotationModel) { r.BeforeExpiry = types.StringUnknown() }), false},
	} {
		attributes := map[string]attr.Type{"triggers": types.MapType{ElemType: types.StringType}, "interval": types.StringType, "before_expiry": types.StringType, "grace_period_minutes": types.Int64Type}
		object, diags := types.ObjectValueFrom(context.Background(), attributes, tc.rotation)
		m := apiKeyModel{Rotation: object}
		s, _, d := m.settings(context.Background())
		if diags.Append(d...); diags.HasError() || s.isIdle != tc.want {
			t.Errorf("%s: %v, want %v; %v", name, s.isIdle, tc.want, diags)
		}
	}
	m := apiKeyModel{Rotation: types.ObjectUnknown(nil)}
	if s, _, _ := m.settings(context.Background()); s.isIdle {
		t.Error("a rotation that is not known yet is taken for an idle one")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		settings keySettings
		want     []string
	}{
		"usual":                                 {settings: usual()},
		"a rotation without a cause":            {settings: keySettings{hasRotation: true, isIdle: true, grace: time.Minute}, want: []string{fieldRotation}},
		"before_expiry without expiry":          {settings: keySettings{beforeExpiry: day, neverDue: true}, want: []string{fieldBeforeExpiry}},
		"before_expiry with an unknown expiry":  {settings: keySettings{beforeExpiry: day}},
		"before_expiry beside interval":         {settings: keySettings{beforeExpiry: day, interval: day}},
		"before_expiry as long as the life":     {settings: keySettings{beforeExpiry: day, expiresIn: day}, want: []string{fieldBeforeExpiry}},
		"grace longer than the life":            {settings: keySettings{grace: 10 * time.Minute, expiresIn: 9 * time.Minute}, want: []string{fieldGrace}},
		"grace longer than before_expiry":       {settings: keySettings{grace: 10 * time.Minute, expiresIn: day, beforeExpiry: 5 * time.Minute}, want: []string{fieldGrace}},
		"grace as long as before_expiry":        {settings: keySettings{grace: 10 * time.Minute, expiresIn: day, beforeExpiry: 10 * time.Minute}},
		"negative before_expiry":                {settings: keySettings{beforeExpiry: -time.Hour, expiresIn: day, grace: time.Minute}},
		"negative life":                         {settings: keySettings{beforeExpiry: time.Hour, expiresIn: -time.Hour, grace: time.Minute}},
		"before_expiry against a fixed expires": {settings: keySettings{beforeExpiry: day, expiresAt: born}},
	} {
		if got := fieldsOf(t, tc.settings.check()); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestCheckAt(t *testing.T) {
	t.Parallel()
	fixed := func(after time.Duration) keySettings { return keySettings{expiresAt: born.Add(after)} }
	graced := keySettings{expiresIn: day, hasRotation: true, grace: 10 * time.Minute}
	for name, tc := range map[string]struct {
		state  *keyState
		config keySettings
		action keyAction
		after  time.Duration
		want   []string
	}{
		"create":                             {nil, fixed(day), keyMint, 0, nil},
		"create with an expiry that is over": {nil, fixed(day), keyMint, day, []string{fieldExpiresAt}},
		"changed to an expiry that is over":  {madeWith(fixed(day)), fixed(time.Hour), keyRotate, 2 * time.Hour, []string{fieldExpiresAt}},
		"an unchanged expiry that is over":   {madeWith(fixed(day)), fixed(day), keyWarn, 2 * day, nil},
		"before_expiry longer than is left":  {nil, keySettings{expiresAt: born.Add(day), beforeExpiry: day}, keyMint, 0, []string{fieldBeforeExpiry}},
		"grace that the key lives to see":    {madeWith(graced), graced, keyRotate, 0, nil},
		"grace that the key does not":        {madeWith(graced), graced, keyRotate, day - 9*time.Minute, []string{fieldGrace}},
		"grace without a rotation":           {madeWith(graced), graced, keyKeep, day - 9*time.Minute, nil},
		"grace of a dead key":                {madeWith(graced), graced, keyMint, day, nil},
	} {
		c := &keyConfig{settings: tc.config}
		if got := fieldsOf(t, checkAt(tc.state, c, keyDecision{action: tc.action}, born.Add(tc.after))); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func fieldsOf(t *testing.T, problems []keyProblem) []string {
	t.Helper()
	var fields []string
	for _, p := range problems {
		fields = append(fields, p.field)
		if p.summary == "" || !strings.HasSuffix(p.detail, ".") {
			t.Errorf("a problem without a text: %+v", p)
		}
	}
	return fields
}
