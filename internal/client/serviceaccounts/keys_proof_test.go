package serviceaccounts

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// The end of the old key, the creation time of the new key, and the requested expiry identify the key of a rotation.
func TestSuccessor(t *testing.T) {
	t.Parallel()
	ended := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ms := func(at time.Time) wire.Millis { return wire.Millis(at.UnixMilli()) }
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
		"made a moment before":            {[]APIKey{old, key("new", ended.Add(-2*time.Second), 0)}, NewAPIKey{}, "new"},
		"made more than a moment before":  {[]APIKey{old, key("new", ended.Add(-2001*time.Millisecond), 0)}, NewAPIKey{}, ""},
		"made longer before":              {[]APIKey{old, key("new", ended.Add(-11*time.Minute), 0)}, NewAPIKey{}, ""},
		"made after":                      {[]APIKey{old, key("new", ended.Add(time.Minute), 0)}, NewAPIKey{}, ""},
		"with the lifetime":               {[]APIKey{old, key("new", ended, day)}, NewAPIKey{ExpiresAt: now.Add(day), Lifetime: day}, "new"},
		"a moment off the lifetime":       {[]APIKey{old, key("new", ended, day+2*time.Second)}, NewAPIKey{ExpiresAt: now.Add(day), Lifetime: day}, "new"},
		"more off the lifetime":           {[]APIKey{old, key("new", ended, day+2001*time.Millisecond)}, NewAPIKey{ExpiresAt: now.Add(day), Lifetime: day}, ""},
		"with another lifetime":           {[]APIKey{old, key("new", ended, 2*day)}, NewAPIKey{ExpiresAt: now.Add(day), Lifetime: day}, ""},
		"with the expiry":                 {[]APIKey{old, key("new", ended, day)}, NewAPIKey{ExpiresAt: ended.Add(day + time.Microsecond)}, "new"},
		"with another expiry":             {[]APIKey{old, key("new", ended, day)}, NewAPIKey{ExpiresAt: ended.Add(day - time.Millisecond)}, ""},
		"with an expiry that was not set": {[]APIKey{old, key("new", ended, day)}, NewAPIKey{}, ""},
		"without the expiry":              {[]APIKey{old, key("new", ended, 0)}, NewAPIKey{ExpiresAt: ended.Add(day)}, ""},
		"two of them":                     {[]APIKey{old, key("new", ended, 0), key("other", ended, 0)}, NewAPIKey{}, ""},
		"of a key that lives":             {[]APIKey{live, key("new", ended, 0)}, NewAPIKey{}, ""},
		"of a key that nobody knows":      {[]APIKey{key("new", ended, 0)}, NewAPIKey{}, ""},
	} {
		got := ""
		if k := successorOf(tc.keys, "old", tc.wanted, now); k != nil {
			got = k.ID
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestDescribeKeys_theNewestFirst(t *testing.T) {
	t.Parallel()
	const month = 1 << 32 // Milliseconds. An int of a 32-bit platform cannot hold the difference.
	keys := []APIKey{{ID: "b", CreatedAt: 2 * month}, {ID: "a", CreatedAt: month}, {ID: "d", CreatedAt: 4 * month}, {ID: "c", CreatedAt: 3 * month}}
	order := ""
	for _, k := range describeKeys(keys) {
		order += k.ID
	}
	if order != "dcba" || keys[0].ID != "b" {
		t.Errorf("described %s, from %v", order, keys)
	}
}

// Each mismatch alone proves that a key is not the successor, because a successor is revoked.
func TestIsSuccessor_takesEverySign(t *testing.T) {
	t.Parallel()
	ended := wire.Millis(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	old := APIKey{ID: "old", Name: "ci", CreatedAt: ended - 120_000, IsRevoked: true, RevokedAt: ended}
	successor := APIKey{ID: "new", Name: "ci", CreatedAt: ended - 60_000}
	for name, change := range map[string]func(old, k *APIKey){
		"the old one lives out its grace period": func(old, _ *APIKey) { old.IsRevoked = false },
		"the old one tells no end":               func(old, _ *APIKey) { old.RevokedAt = 0 },
		"it tells no birth":                      func(_, k *APIKey) { k.CreatedAt = 0 },
		"it is older":                            func(_, k *APIKey) { k.CreatedAt = ended - 180_000 },
		"it is the old one itself":               func(_, k *APIKey) { k.ID = "old" },
		"it has another name":                    func(_, k *APIKey) { k.Name = "deploy" },
	} {
		o, k := old, successor
		if !isSuccessor(&o, &k) {
			t.Fatal("the successor is not known")
		}
		if change(&o, &k); isSuccessor(&o, &k) {
			t.Errorf("%s, and it counts as the successor", name)
		}
	}
}

func TestMintProof_takesEverySign(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	proof := mintProof{expiresAt: 7, since: at, until: at.Add(2 * time.Second), existed: func(id string) bool { return id == "old" }}
	for name, tc := range map[string]struct {
		change func(p *mintProof, k *APIKey)
		want   bool
	}{
		"between the answers":            {func(*mintProof, *APIKey) {}, true},
		"in the second of the first one": {func(p *mintProof, _ *APIKey) { p.since = at.Add(900 * time.Millisecond) }, true},
		"in the second of the last one": {func(_ *mintProof, k *APIKey) {
			k.CreatedAt = wire.Millis(at.Add(2999 * time.Millisecond).UnixMilli())
		}, true},
		"before the first one":            {func(_ *mintProof, k *APIKey) { k.CreatedAt-- }, false},
		"after the last one":              {func(_ *mintProof, k *APIKey) { k.CreatedAt += 3000 }, false},
		"no time of an answer before it":  {func(p *mintProof, _ *APIKey) { p.since = time.Time{} }, false},
		"no time of an answer after it":   {func(p *mintProof, _ *APIKey) { p.until = time.Time{} }, false},
		"no time of its own":              {func(_ *mintProof, k *APIKey) { k.CreatedAt = 0 }, false},
		"another expiry than asked for":   {func(_ *mintProof, k *APIKey) { k.ExpiresAt = 8 }, false},
		"a key that was there before":     {func(_ *mintProof, k *APIKey) { k.ID = "old" }, false},
		"no expiry, though one was asked": {func(_ *mintProof, k *APIKey) { k.ExpiresAt = 0 }, false},
	} {
		p, k := proof, APIKey{ID: "new", CreatedAt: wire.Millis(at.UnixMilli()), ExpiresAt: 7}
		tc.change(&p, &k)
		if got := p.holds(&k); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
