package client

import (
	"testing"
	"time"
)

// What a rotation left is known by the end of the old key, its own birth and the expiry that was asked for.
func TestSuccessor(t *testing.T) {
	t.Parallel()
	ended := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ms := func(at time.Time) Millis { return Millis(at.UnixMilli()) }
	old := APIKey{ID: "old", Name: "ci", CreatedAt: ms(ended.Add(-time.Hour)), IsRevoked: true, RevokedAt: ms(ended)}
	key := func(id string, made time.Time, lifetime time.Duration) APIKey {
		k := APIKey{ID: id, Name: "ci", CreatedAt: ms(made)}
		if lifetime > 0 {
			k.ExpiresAt = ms(made.Add(lifetime))
		}
		return k
	}
	live := old
	live.IsRevoked, live.RevokedAt = false, 0
	now, day := ended.Add(time.Hour), 24*time.Hour
	for name, tc := range map[string]struct {
		keys   []APIKey
		wanted NewAPIKey
		want   string
	}{
		"made at the end":                 {[]APIKey{old, key("new", ended, 0)}, NewAPIKey{}, "new"},
		"made a grace period before":      {[]APIKey{old, key("new", ended.Add(-10*time.Minute), 0)}, NewAPIKey{}, "new"},
		"made at no whole minute before":  {[]APIKey{old, key("new", ended.Add(-90*time.Second), 0)}, NewAPIKey{}, ""},
		"made longer before":              {[]APIKey{old, key("new", ended.Add(-11*time.Minute), 0)}, NewAPIKey{}, ""},
		"made after":                      {[]APIKey{old, key("new", ended.Add(time.Minute), 0)}, NewAPIKey{}, ""},
		"with the lifetime":               {[]APIKey{old, key("new", ended, day)}, NewAPIKey{ExpiresAt: now.Add(day), Lifetime: day}, "new"},
		"with another lifetime":           {[]APIKey{old, key("new", ended, 2*day)}, NewAPIKey{ExpiresAt: now.Add(day), Lifetime: day}, ""},
		"with the expiry":                 {[]APIKey{old, key("new", ended, day)}, NewAPIKey{ExpiresAt: ended.Add(day)}, "new"},
		"with an expiry that was not set": {[]APIKey{old, key("new", ended, day)}, NewAPIKey{}, ""},
		"without the expiry":              {[]APIKey{old, key("new", ended, 0)}, NewAPIKey{ExpiresAt: ended.Add(day)}, ""},
		"two of them":                     {[]APIKey{old, key("new", ended, 0), key("other", ended, 0)}, NewAPIKey{}, ""},
		"of a key that lives":             {[]APIKey{live, key("new", ended, 0)}, NewAPIKey{}, ""},
		"of a key that nobody knows":      {[]APIKey{key("new", ended, 0)}, NewAPIKey{}, ""},
	} {
		got := ""
		if k := Successor(tc.keys, "old", tc.wanted, now); k != nil {
			got = k.ID
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
