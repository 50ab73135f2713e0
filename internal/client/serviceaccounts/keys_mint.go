package serviceaccounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// mintAttempts limits how often a mint is sent if every response is lost.
const mintAttempts = 3

// NewAPIKey describes the key to create.
type NewAPIKey struct {
	AccountID, Name string
	// ExpiresAt is when the key expires, and ExpiresIn how long it lives by the service's clock. Both are zero for one that never expires.
	ExpiresAt time.Time
	ExpiresIn time.Duration
}

// Renewal describes the key to replace.
type Renewal struct {
	ID string
	// InGrace are the IDs of the keys before it that are still in their grace periods.
	InGrace []string
	// GraceMinutes is how long the key still authenticates after a rotation, 0 to 10.
	GraceMinutes int64
	// IsRevoked says that the plan took the key for revoked or deleted. A listing may have lacked it.
	IsRevoked bool
}

type keyCreation struct {
	client *Client
	key    NewAPIKey
	old    Renewal
	// known is what was known before the request.
	known create.View[APIKey]
	// now returns the service's time, by which keys expire.
	now func() time.Time
}

// CreateKey mints a key. If a live key with the same name exists and is not revoked meanwhile, nothing is sent and the error is an
// *ExistsError: an interrupted run may have created the key, and its value is lost.
func (c *Client) CreateKey(ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
	return c.RenewKey(ctx, n, Renewal{})
}

// CreateMissingKey is CreateKey that does not wait until a live key with the name is revoked.
func (c *Client) CreateMissingKey(ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
	return c.createKey(ctx, n, Renewal{}, func(k *keyCreation, ctx context.Context) (*MintedAPIKey, error) {
		if len(k.known.Find(k.isOther)) == 0 {
			return k.mint(ctx)
		}
		others, err := k.client.keys.Relist(ctx, n.AccountID, k.isOther) // What is known may be out of date.
		return k.mintUnless(ctx, others, err)
	})
}

// CreateKeyAmongOthers mints a key even if live keys with the same name exist.
func (c *Client) CreateKeyAmongOthers(ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
	return c.createKey(ctx, n, Renewal{}, (*keyCreation).mint)
}

// RenewKey rotates a live key. In place of a dead one, it mints a key as CreateKey does. A key that was taken for revoked and works is an
// error, because nobody asked for its rotation.
func (c *Client) RenewKey(ctx context.Context, n NewAPIKey, old Renewal) (*MintedAPIKey, error) {
	return c.createKey(ctx, n, old, func(k *keyCreation, ctx context.Context) (*MintedAPIKey, error) {
		if !old.IsRevoked && k.oldLives(k.known.Find(wire.HasName[APIKey](n.Name))) {
			return k.rotate(ctx)
		}
		if old.IsRevoked {
			switch named, err := k.keysNow(ctx); {
			case err != nil:
				return nil, err
			case k.oldLives(named):
				return nil, fmt.Errorf("the API key %q (%s) works, although an earlier listing showed it as revoked or lacked it. "+
					"Nothing was changed. Plan again", n.Name, old.ID)
			}
		}
		return k.replace(ctx)
	})
}

// createKey serializes creations with one name, because neither would see the other's key. How decides what is sent, from what is known.
func (c *Client) createKey(ctx context.Context, n NewAPIKey, old Renewal, how func(*keyCreation, context.Context) (*MintedAPIKey, error)) (*MintedAPIKey, error) {
	unlock, err := c.keys.Lock(ctx, n.AccountID, n.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	known, err := c.keys.View(ctx, n.AccountID)
	if err != nil {
		return nil, c.GoneWithAccount(ctx, n.AccountID, err)
	}
	now := func() time.Time { return c.conn.ServiceNow(ctx) }
	if n.ExpiresIn != 0 {
		n.ExpiresAt = now().Add(n.ExpiresIn) // Its milliseconds are those of this machine, so no other run's key has them.
	}
	return how(&keyCreation{client: c, key: n, old: old, known: known, now: now}, ctx)
}

// keysNow lists the keys with the name again.
func (k *keyCreation) keysNow(ctx context.Context) ([]APIKey, error) {
	return k.client.keys.Relist(ctx, k.key.AccountID, wire.HasName[APIKey](k.key.Name))
}

func (k *keyCreation) oldLives(named []APIKey) bool {
	return slices.ContainsFunc(named, func(key APIKey) bool { return key.ID == k.old.ID && key.IsLive(k.now()) })
}

// rotate rotates a live key. If the response is lost, so is the new value, so it revokes the new key and mints another one.
func (k *keyCreation) rotate(ctx context.Context) (*MintedAPIKey, error) {
	since := k.client.conn.ServiceTime()
	type body struct {
		ExpiresAt    int64 `json:"expiresAt,omitempty"`
		GraceMinutes int64 `json:"gracePeriodMinutes,omitempty"`
	}
	r := transport.Post("rotateApiKey", "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/rotate", k.key.AccountID, k.old.ID)
	minted, err := k.send(ctx, r.With(body{millisOf(k.key.ExpiresAt), k.old.GraceMinutes}))
	switch {
	case transport.IsAmbiguous(err):
		if stop := k.revokeLost(ctx, since, err); stop != nil {
			return nil, stop
		}
		if ctx.Err() != nil {
			return nil, err // In a run that is stopping, the value of another key could not be stored.
		}
		minted, err := k.mint(ctx)
		if err != nil {
			err = fmt.Errorf("API key %s was rotated, but the value of the new key was lost: %w", k.old.ID, err)
		}
		return minted, err
	case transport.StatusOf(err) == http.StatusBadRequest || transport.IsNotFound(err) || transport.IsConflict(err):
		// Somebody may have revoked or rotated the key since the listing, or a killed run may have rotated it with a grace period.
		named, lookErr := k.keysNow(ctx)
		if lookErr == nil && !k.oldLives(named) {
			return k.replace(ctx)
		}
		return nil, errors.Join(err, lookErr, create.AlreadyExists(describeKeys(collection.Filter(named, k.isOther))))
	}
	return minted, err
}

// isOther reports whether a key with the name prevents a mint.
func (k *keyCreation) isOther(key *APIKey) bool {
	return wire.HasName[APIKey](k.key.Name)(key) && key.IsLive(k.now()) && key.ID != k.old.ID && !slices.Contains(k.old.InGrace, key.ID)
}

// replace mints a key in place of a dead one, or of none. It gives others time to be revoked.
func (k *keyCreation) replace(ctx context.Context) (*MintedAPIKey, error) {
	known, others, err := k.client.keys.UntilFree(ctx, k.key.AccountID, k.isOther)
	if err == nil {
		k.known = known
	}
	return k.mintUnless(ctx, others, err)
}

// mintUnless mints a key unless there are others, or they are not known because of an error.
func (k *keyCreation) mintUnless(ctx context.Context, others []APIKey, err error) (*MintedAPIKey, error) {
	if err != nil {
		return nil, k.client.GoneWithAccount(ctx, k.key.AccountID, err)
	}
	if len(others) > 0 {
		return nil, create.AlreadyExists(describeKeys(others))
	}
	return k.mint(ctx)
}

// mint mints a key. After a lost response, it revokes the key that was provably created before it retries.
func (k *keyCreation) mint(ctx context.Context) (*MintedAPIKey, error) {
	type body struct {
		Name      string `json:"name"`
		ExpiresAt int64  `json:"expiresAt,omitempty"`
	}
	r := transport.Post("createApiKey", "/api/v0/service-accounts/{serviceAccountId}/api-keys", k.key.AccountID)
	for attempt := 1; ; attempt++ {
		since := k.client.conn.ServiceTime()
		minted, err := k.send(ctx, r.With(body{k.key.Name, millisOf(k.key.ExpiresAt)}))
		if err == nil || !transport.IsAmbiguous(err) {
			return minted, err
		}
		if stop := k.revokeLost(ctx, since, err); stop != nil {
			return nil, stop
		}
		if attempt == mintAttempts || ctx.Err() != nil {
			return nil, err
		}
	}
}

// revokeLost revokes the key whose value was lost with a response: the only new live key with the name that has the requested expiry and
// is not older than the request by the service's clock. Without an error, the request may be sent again. The error is lostErr if nothing was
// rotated, and a *LostError with the keys that may be the lost one if that is not known. A service may act late, so the search comes first.
func (k *keyCreation) revokeLost(ctx context.Context, since time.Time, lostErr error) error {
	isProven := func(key *APIKey) bool {
		return int64(key.ExpiresAt) == millisOf(k.key.ExpiresAt) && create.ProvenSince(key.CreatedAt.Time(), since)
	}
	var named, live []APIKey // As they were listed last. Another run's key may be listed before the lost one.
	look := func(ctx context.Context) (_ []APIKey, err error) {
		if named, err = k.keysNow(ctx); err == nil {
			live = collection.Filter(named, func(key *APIKey) bool { return key.IsLive(k.now()) && !k.known.CannotBeNew(key.ID) })
		}
		return collection.Filter(live, isProven), err
	}
	proven, err := create.LookAfterLoss(ctx, k.client.conn, create.Search[APIKey]{Look: look})
	// A rotation without a grace period ends the old key in the same step. If it still lives, nothing was rotated.
	if err == nil && k.old.GraceMinutes == 0 && k.oldLives(named) {
		return lostErr
	}
	if err == nil && len(proven) == 1 {
		ctx, cancel := transport.PastCancel(ctx) // After an interrupt, the search may have taken all the time that it had.
		defer cancel()
		if err = k.client.RevokeExistingKey(ctx, k.key.AccountID, proven[0].ID); err == nil || collection.IsGone(err) {
			k.noteRevoked(ctx, &proven[0])
			return nil
		}
	}
	return &create.LostError{Object: "API key", Name: k.key.Name, Found: describeKeys(live), Err: errors.Join(lostErr, err)}
}

// noteRevoked notes a key that was revoked because its value was lost. An expiry of its own proves that no other run created it.
func (k *keyCreation) noteRevoked(ctx context.Context, key *APIKey) {
	if k.key.ExpiresIn != 0 {
		create.LogFound(ctx, "Revoked without its value", key.Ref())
		return
	}
	create.NoteFound(ctx, k.client.conn, create.Found{Ref: key.Ref(), Revoked: cmp.Or(key.Fingerprint, "unknown")})
}

// send sends a mint or a rotation. A response without the value, or with another key, counts as lost. If the response has no
// creation time, its date is used.
func (k *keyCreation) send(ctx context.Context, r transport.Request) (*MintedAPIKey, error) {
	n := k.key
	response, err := k.client.conn.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		k.client.keys.Invalidate(n.AccountID)
		return nil, err
	}
	minted := &MintedAPIKey{}
	if err := wire.Decode(response.Body, "apiKey", minted); err != nil {
		return nil, transport.NewTransportError(r.Op, err)
	}
	if minted.ID == "" || minted.Value == "" {
		return nil, r.Unexpected("the field id or value of apiKey is missing")
	}
	if k.known.CannotBeNew(minted.ID) || minted.Name != "" && !wire.SameText(minted.Name, n.Name) {
		return nil, r.Unexpected(fmt.Sprintf("it contains API key %s (%q) instead of a new one named %q", minted.ID, minted.Name, n.Name))
	}
	if minted.CreatedAt == 0 && !response.At.IsZero() {
		minted.CreatedAt = wire.Millis(response.At.UnixMilli())
	}
	k.client.keys.Wrote(n.AccountID, &APIKey{
		AccountID: n.AccountID, ID: minted.ID, Name: n.Name,
		Fingerprint: minted.Fingerprint, CreatedAt: minted.CreatedAt, ExpiresAt: minted.ExpiresAt,
	})
	return minted, nil
}

// describeKeys describes keys for errors, newest first.
func describeKeys(keys []APIKey) []wire.Ref {
	newest := slices.Clone(keys)
	wire.Sort(newest, func(a, b *APIKey) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return wire.Refs(newest)
}

func millisOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
