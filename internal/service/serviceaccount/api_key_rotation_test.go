package serviceaccount

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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

// TestIsRenewed_everyStateInEveryPhase covers every case in which a key is rotated. Whether a phase sees that a key was revoked
// or deleted outside Terraform depends on the refresh. A plan with -refresh-only never calls isRenewed.
func TestIsRenewed_everyStateInEveryPhase(t *testing.T) {
	t.Parallel()
	type phases struct {
		plan      bool // After a refresh, and in the apply a moment later.
		noRefresh bool // plan -refresh=false: what happened elsewhere is not seen.
		imported  bool // The value is unknown, and no rotation is configured.
		rotated   bool // The value is unknown, and a rotation is configured.
	}
	for name, tc := range map[string]struct {
		age    time.Duration
		change func(*keyState)
		want   phases
	}{
		"valid":      {age: day, want: phases{rotated: true}},
		"nearly due": {age: 20*day - 2*time.Second, want: phases{rotated: true}},
		"due":        {age: 20 * day, want: phases{true, true, false, true}},
		"expired":    {age: 30 * day, want: phases{true, true, true, true}},
		"revoked":    {age: day, change: func(s *keyState) { s.isRevoked = true }, want: phases{true, false, true, true}},
		"gone":       {age: day, change: func(s *keyState) { s.isRevoked = true; s.createdAt = time.Time{} }, want: phases{true, false, true, true}},
		"unreadable": {age: 21 * day, change: func(s *keyState) { s.createdAt = time.Time{} }, want: phases{false, true, false, true}}, // The list response had no creation time.
	} {
		now, bare, want := born.Add(tc.age), keySettings{expiresIn: 30 * day}, usual()
		seen := func(config keySettings) *keyState {
			s := madeWith(usual())
			s.settings.triggers = config.triggers
			if tc.change != nil {
				tc.change(s)
			}
			return s
		}
		imported := func(config keySettings) *keyState {
			s := seen(config)
			s.hasValue, s.settings.expiresIn, s.settings.hasRotation = false, 0, false
			return s
		}
		got := phases{isRenewed(seen(want), &want, now), isRenewed(madeWith(usual()), &want, now), isRenewed(imported(bare), &bare, now), isRenewed(imported(want), &want, now)}
		if got != tc.want || got.plan != isRenewed(seen(want), &want, now.Add(time.Second)) {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestIsRenewed_changedArguments(t *testing.T) {
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
		want   bool
	}{
		"expires_in changed":                 {madeWith(usual()), with(usual(), func(s *keySettings) { s.expiresIn = 40 * day }), day, true},
		"expires_in removed":                 {madeWith(keySettings{expiresIn: day * 30}), keySettings{}, day, true},
		"expires_in added":                   {madeWith(keySettings{}), keySettings{expiresIn: day}, day, true},
		"expires_in to the same expires_at":  {madeWith(keySettings{expiresIn: day * 30}), fixed, day, false},
		"expires_in adopted after an import": {&keyState{createdAt: born}, keySettings{expiresIn: day}, day, false},
		"expires_at moved":                   {madeWith(fixed), keySettings{expiresAt: born.Add(31 * day)}, day, true},
		"expires_at rounded by the service":  {madeWith(fixed), keySettings{expiresAt: born.Add(30*day + 400*time.Millisecond)}, day, false},
		"expires_at added":                   {madeWith(keySettings{}), fixed, day, true},
		"expires_at removed":                 {madeWith(fixed), keySettings{}, day, true},
		"expires_at set by the service":      {&keyState{settings: fixed, hasValue: true, createdAt: born}, keySettings{}, day, false},
		"expires_at of an import":            {&keyState{settings: fixed, createdAt: born}, fixed, day, false},
		"expires_at of an import moved":      {&keyState{settings: fixed, createdAt: born}, keySettings{expiresAt: born.Add(day * 40)}, day, true},
		"expired, expires_at over":           {madeWith(fixed), fixed, 31 * day, false},
		"expired, expires_at later":          {madeWith(fixed), keySettings{expiresAt: born.Add(40 * day)}, 31 * day, true},
		"expired, expires_at removed":        {madeWith(fixed), keySettings{}, 31 * day, true},
		"triggers added":                     {madeWith(keySettings{}), keySettings{hasRotation: true, triggers: map[string]string{"v": "1"}}, day, true},
		"empty triggers added":               {madeWith(keySettings{}), keySettings{hasRotation: true, triggers: map[string]string{}}, day, false},
		"triggers changed":                   {madeWith(usual()), with(usual(), func(s *keySettings) { s.triggers = map[string]string{"v": "2"} }), day, true},
		"triggers removed":                   {madeWith(usual()), with(usual(), func(s *keySettings) { s.triggers = nil }), day, false},
		"triggers emptied":                   {madeWith(usual()), with(usual(), func(s *keySettings) { s.triggers = map[string]string{} }), day, false},
		"a trigger removed":                  {madeWith(with(usual(), func(s *keySettings) { s.triggers = map[string]string{"v": "1", "w": "2"} })), usual(), day, true},
		"rotation removed":                   {madeWith(usual()), keySettings{expiresIn: 30 * day}, 25 * day, false},
		"interval shortened to what is over": {madeWith(usual()), with(usual(), func(s *keySettings) { s.interval = day }), 2 * day, true},
		"grace changed":                      {madeWith(usual()), with(usual(), func(s *keySettings) { s.grace = 0 }), day, false},
	} {
		check.Is(t, name, isRenewed(tc.state, &tc.config, born.Add(tc.after)), tc.want)
	}
	if unknown := with(usual(), func(s *keySettings) { s.unknown = true }); !isRenewed(madeWith(usual()), &unknown, born) {
		t.Error("a key is kept, whatever its settings turn out to be")
	}
	revoked := madeWith(fixed)
	if revoked.isRevoked = true; !isRenewed(revoked, &keySettings{unknown: true}, born) {
		t.Error("a dead key is kept, whatever its settings turn out to be")
	}
}

func TestNextRotation(t *testing.T) {
	t.Parallel()
	expiry := born.Add(30 * day)
	for name, tc := range map[string]struct {
		created, expires time.Time
		interval, before time.Duration
		want             time.Time
	}{
		"never":                    {created: born, expires: expiry},
		"interval":                 {created: born, interval: day, want: born.Add(day)},
		"before the expiry":        {created: born, expires: expiry, before: day, want: born.Add(29 * day)},
		"interval first":           {created: born, expires: expiry, interval: 2 * day, before: day, want: born.Add(2 * day)},
		"expiry first":             {created: born, expires: expiry, interval: 29 * day, before: 2 * day, want: born.Add(28 * day)},
		"no expiry":                {created: born, before: day},
		"creation not known":       {expires: expiry, interval: day, before: day, want: born.Add(29 * day)},
		"born in the last moments": {created: born.Add(29 * day), expires: expiry, before: 2 * day},
	} {
		s := keySettings{interval: tc.interval, beforeExpiry: tc.before}
		if got := s.nextRotation(tc.created, tc.expires); !got.Equal(tc.want) {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestCheckNow(t *testing.T) {
	t.Parallel()
	fixed := func(after time.Duration) keySettings { return keySettings{expiresAt: born.Add(after)} }
	graced := keySettings{expiresIn: day, hasRotation: true, grace: 10 * time.Minute}
	for name, tc := range map[string]struct {
		state   *keyState
		config  keySettings
		renewed bool
		after   time.Duration
		want    []string
	}{
		"create":                             {nil, fixed(day), true, 0, nil},
		"create with an expiry that is over": {nil, fixed(day), true, day, []string{"expires_at"}},
		"changed to an expiry that is over":  {madeWith(fixed(day)), fixed(time.Hour), true, 2 * time.Hour, []string{"expires_at"}},
		"an unchanged expiry that is over":   {madeWith(fixed(day)), fixed(day), false, 2 * day, nil},
		"interval longer than is left":       {nil, keySettings{expiresAt: born.Add(day), interval: day}, true, 0, []string{"rotation.interval"}},
		"grace that the key lives to see":    {madeWith(graced), graced, true, 0, nil},
		"grace that the key does not":        {madeWith(graced), graced, true, day - 9*time.Minute, []string{"rotation.grace_period_minutes"}},
		"grace without a rotation":           {madeWith(graced), graced, false, day - 9*time.Minute, nil},
		"grace of a dead key":                {madeWith(graced), graced, true, day, nil},
	} {
		check.Is(t, name, pathsOf(t, tc.config.checkNow(tc.state, tc.renewed, born.Add(tc.after))), tc.want)
	}
}

func pathsOf(t *testing.T, diags diag.Diagnostics) []string {
	t.Helper()
	var paths []string
	for _, d := range diags {
		at, _ := d.(diag.DiagnosticWithPath)
		paths = append(paths, at.Path().String())
		if d.Summary() == "" || !strings.HasSuffix(d.Detail(), ".") {
			t.Errorf("an error without a text: %+v", d)
		}
	}
	return paths
}
