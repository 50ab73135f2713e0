package serviceaccounts

import (
	"cmp"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// maxGracePeriod is the longest grace period of a rotation.
const maxGracePeriod = 10 * time.Minute

// tolerance is the largest difference between two times of the service for the same event.
const tolerance = 2 * time.Second

// mintProof proves that a request without a response created a key. All parts must match, because the key is then revoked.
type mintProof struct {
	// expiresAt is the requested expiry; 0 for none.
	expiresAt wire.Millis
	// since and until are the service's times in the last response before the request and in the listing after it.
	since, until time.Time
	// existed reports whether a key existed before, or was created by this process for another purpose.
	existed func(id string) bool
}

func (p mintProof) holds(k *APIKey) bool {
	if p.since.IsZero() || p.until.IsZero() || k.CreatedAt == 0 {
		return false
	}
	created := k.CreatedAt.Time()
	return k.ExpiresAt == p.expiresAt && !p.existed(k.ID) &&
		!created.Before(p.since.Truncate(time.Second)) && created.Before(p.until.Truncate(time.Second).Add(time.Second))
}

// isSuccessor reports whether k was created by the rotation that ended the old key. The service does both in one step, so the
// old key ends a whole number of minutes (the grace period) after k was created.
func isSuccessor(old, k *APIKey) bool {
	if !old.IsRevoked || old.RevokedAt == 0 || k.CreatedAt == 0 || k.CreatedAt < old.CreatedAt || k.ID == old.ID || k.Name != old.Name {
		return false
	}
	apart := old.RevokedAt.Time().Sub(k.CreatedAt.Time())
	grace := apart.Round(time.Minute)
	return grace >= 0 && grace <= maxGracePeriod && (apart-grace).Abs() <= tolerance
}

// successorOf returns the live key that a rotation of the dead key created with the expiry of n, or nil. Its value is lost if
// the state has only the dead key. A rotation creates one key, so two candidates prove nothing.
func successorOf(keys []APIKey, deadID string, n NewAPIKey, now time.Time) *APIKey {
	old := findByID(keys, deadID)
	if old == nil {
		return nil
	}
	candidates := collection.Filter(keys, func(k *APIKey) bool { return k.IsLive(now) && isSuccessor(old, k) })
	if len(candidates) != 1 || !n.hasExpiryOf(&candidates[0]) {
		return nil
	}
	return &candidates[0]
}

// hasExpiryOf reports whether k has the requested expiry, counted from its own creation if Lifetime is set.
func (n NewAPIKey) hasExpiryOf(k *APIKey) bool {
	switch {
	case n.ExpiresAt.IsZero() || k.ExpiresAt == 0:
		return n.ExpiresAt.IsZero() && k.ExpiresAt == 0
	case n.Lifetime > 0:
		return (k.ExpiresAt.Time().Sub(k.CreatedAt.Time()) - n.Lifetime).Abs() <= tolerance
	}
	return k.ExpiresAt.Time().Equal(n.ExpiresAt.Truncate(time.Millisecond))
}

func findByID(keys []APIKey, id string) *APIKey {
	i := slices.IndexFunc(keys, func(k APIKey) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// describeKeys describes keys for errors, newest first.
func describeKeys(keys []APIKey) []wire.Ref {
	newest := slices.Clone(keys)
	wire.Sort(newest, func(a, b *APIKey) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return wire.Refs(newest)
}
