package serviceaccounts

import (
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// maxGrace is the longest grace period that the service grants.
const maxGrace = 10 * time.Minute

// sameMoment is how far apart two times may be that the service writes for one event.
const sameMoment = 2 * time.Second

// mintProof tells the key that a request without an answer made from the keys of others. Every part of it must hold,
// because what is taken for that key is revoked.
type mintProof struct {
	// expiresAt is the very expiry that was asked for; 0 is none.
	expiresAt transport.Millis
	// since and until are the service's own times of the last answer before the request and of the listing after it.
	since, until time.Time
	// knows reports that a key was there before, or was made by this process for another purpose.
	knows func(id string) bool
}

func (p mintProof) covers(k *APIKey) bool {
	if p.since.IsZero() || p.until.IsZero() || k.CreatedAt == 0 {
		return false
	}
	made := k.CreatedAt.Time()
	return k.ExpiresAt == p.expiresAt && !p.knows(k.ID) &&
		!made.Before(p.since.Truncate(time.Second)) && made.Before(p.until.Truncate(time.Second).Add(time.Second))
}

// isSuccessor reports that a key was made by the rotation that ended another one: the service does both at once, so
// that the end of the old key is the birth of the new one plus the grace period, a whole number of minutes.
func isSuccessor(old, k *APIKey) bool {
	if !old.IsRevoked || old.RevokedAt == 0 || k.CreatedAt == 0 || k.CreatedAt < old.CreatedAt || k.ID == old.ID || k.Name != old.Name {
		return false
	}
	apart := old.RevokedAt.Time().Sub(k.CreatedAt.Time())
	grace := apart.Round(time.Minute)
	return grace >= 0 && grace <= maxGrace && (apart-grace).Abs() <= sameMoment
}

// Successor returns the live key among keys that a rotation of a dead key left which asked for the same as n, or nil. Who
// has only the dead key in a state cannot have its value. A rotation makes one key, so two that could be it prove nothing.
func Successor(keys []APIKey, deadID string, n NewAPIKey, now time.Time) *APIKey {
	old := withID(keys, deadID)
	if old == nil {
		return nil
	}
	left := collection.Filter(keys, func(k *APIKey) bool { return k.IsLive(now) && isSuccessor(old, k) })
	if len(left) != 1 || !n.asksFor(&left[0]) {
		return nil
	}
	return &left[0]
}

// asksFor reports that a key has the expiry that the request asks for, counted from its own creation where that is so.
func (n NewAPIKey) asksFor(k *APIKey) bool {
	switch {
	case n.ExpiresAt.IsZero() || k.ExpiresAt == 0:
		return n.ExpiresAt.IsZero() && k.ExpiresAt == 0
	case n.Lifetime > 0:
		return (k.ExpiresAt.Time().Sub(k.CreatedAt.Time()) - n.Lifetime).Abs() <= sameMoment
	}
	return k.ExpiresAt.Time().Equal(n.ExpiresAt.Truncate(time.Millisecond))
}

func withID(keys []APIKey, id string) *APIKey {
	i := slices.IndexFunc(keys, func(k APIKey) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// describeKeys says of each key what an error tells, the newest first.
func describeKeys(keys []APIKey) []create.ExistsError {
	newest := slices.Clone(keys)
	slices.SortFunc(newest, func(a, b APIKey) int { return int(b.CreatedAt - a.CreatedAt) })
	return create.Describe(newest, func(k *APIKey) create.ExistsError {
		return create.ExistsError{Object: "API key", Name: k.Name, ID: k.ID, ImportID: k.AccountID + "/" + k.ID, CreatedAt: k.CreatedAt.Time()}
	})
}
