package serviceaccounts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// mintAttempts limits how often a mint is sent if every response is lost.
const mintAttempts = 3

// NewAPIKey describes the key to mint.
type NewAPIKey struct {
	AccountID, Name string
	// ExpiresAt is zero for a key that never expires.
	ExpiresAt time.Time
	// Lifetime is set if ExpiresAt was computed from the current time.
	Lifetime time.Duration
}

// Renewal describes the key to replace.
type Renewal struct {
	// ID is the ID of the current key.
	ID string
	// PreviousID is the ID of the key before the current one, if it is still in its grace period.
	PreviousID string
	// RevokeID is the ID of the other key that the plan announced to revoke: PreviousID, or the successor.
	RevokeID string
	// GraceMinutes is how long the current key still authenticates after a rotation, 0 to 10.
	GraceMinutes int64
}

type keyCreation struct {
	client *Client
	key    NewAPIKey
	old    Renewal
	// snapshot has the keys that existed before.
	snapshot collection.Snapshot[APIKey]
}

// CreateKey mints a key. If a live key with the same name exists, nothing is sent and the error is an *ExistsError: an
// interrupted run may have created the key, and its value is lost.
func (c *Client) CreateKey(ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
	return c.RenewKey(ctx, n, Renewal{})
}

// CreateKeyAmongOthers mints a key even if live keys with the same name exist.
func (c *Client) CreateKeyAmongOthers(ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
	return c.createKey(ctx, n, Renewal{}, (*keyCreation).mint)
}

// RenewKey replaces a key. It rotates a live key. If the response is lost, so is the new value, so it revokes the key that was
// provably created and mints another one. For a dead key, it mints a key. It first revokes the key that the plan announced. Any
// other live key with the name is an error as in CreateKey.
func (c *Client) RenewKey(ctx context.Context, n NewAPIKey, old Renewal) (*MintedAPIKey, error) {
	if old.PreviousID != "" && old.PreviousID == old.RevokeID {
		if err := c.RevokeExistingKey(ctx, n.AccountID, old.PreviousID); err != nil && !collection.IsGone(err) {
			return nil, err
		}
	}
	return c.createKey(ctx, n, old, (*keyCreation).renew)
}

// createKey serializes creations with one name, because neither would see the other's key.
func (c *Client) createKey(ctx context.Context, n NewAPIKey, old Renewal, send func(*keyCreation, context.Context) (*MintedAPIKey, error)) (*MintedAPIKey, error) {
	release, err := c.keys.Creating.Lock(ctx, n.AccountID+"/"+n.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	snapshot, err := c.snapshotKeys(ctx, n.AccountID, n.Name)
	if err != nil {
		return nil, err
	}
	return send(&keyCreation{client: c, key: n, old: old, snapshot: snapshot}, ctx)
}

func (c *Client) snapshotKeys(ctx context.Context, accountID, name string) (collection.Snapshot[APIKey], error) {
	snapshot, err := c.keys.Snapshot(ctx, accountID, c.conn.LastResponseAt(), hasName(name))
	return snapshot, c.accountGone(ctx, accountID, err)
}

func (k *keyCreation) isLive(key *APIKey) bool { return key.IsLive(k.client.conn.Clock.Now()) }

// keysNow lists the keys with the name again.
func (k *keyCreation) keysNow(ctx context.Context) ([]APIKey, error) {
	return k.client.keys.FindNow(ctx, k.key.AccountID, hasName(k.key.Name))
}

func (k *keyCreation) lostError(found []APIKey, err error) error {
	return &create.LostError{Object: "API key", Name: k.key.Name, Found: describeKeys(found), Err: err}
}

func (k *keyCreation) renew(ctx context.Context) (*MintedAPIKey, error) {
	if old := findByID(k.snapshot.Wanted, k.old.ID); old == nil || !k.isLive(old) {
		return k.mintIfUnique(ctx, k.snapshot.Wanted)
	}
	since := k.client.conn.ServiceTime()
	minted, err := k.send(ctx, transport.Request{
		Op:   transport.Operation{Name: "rotateApiKey", Method: http.MethodPost, Route: "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/rotate"},
		Path: []string{k.key.AccountID, k.old.ID},
		Body: struct {
			ExpiresAt    int64 `json:"expiresAt,omitempty"`
			GraceMinutes int64 `json:"gracePeriodMinutes,omitempty"`
		}{millisOf(k.key.ExpiresAt), k.old.GraceMinutes},
	})
	switch {
	case err == nil:
		return minted, nil
	case transport.IsAmbiguous(err):
		return k.afterLostRotation(ctx, since, err)
	case transport.StatusOf(err) == http.StatusBadRequest || transport.IsNotFound(err) || transport.IsConflict(err):
		return k.afterRefusedRotation(ctx, err)
	}
	return nil, err
}

// afterLostRotation revokes the key that a rotation without a response created, and mints another one. If there is no such
// key, nothing was rotated.
func (k *keyCreation) afterLostRotation(ctx context.Context, since time.Time, lostErr error) (*MintedAPIKey, error) {
	longer, cancel := transport.Outlive(ctx)
	defer cancel()
	proven, found, err := k.findLost(longer, since)
	if err == nil && k.old.GraceMinutes == 0 {
		// The service creates the new key and revokes the old one in one step.
		old, readErr := k.client.keys.Lookup(longer, k.key.AccountID, k.old.ID)
		if old != nil && k.isLive(old) {
			return nil, lostErr
		}
		err = readErr
		proven = collection.Filter(proven, func(key *APIKey) bool { return old != nil && isSuccessor(old, key) })
	}
	switch {
	case err != nil:
		return nil, k.lostError(nil, errors.Join(lostErr, err))
	case len(proven) == 1:
		minted, err := k.replaceLost(ctx, longer, &proven[0], lostErr)
		if err != nil {
			return nil, lostRotation(k.old, err)
		}
		return minted, nil
	case len(found) > 0:
		return nil, k.lostError(found, lostErr)
	}
	return nil, lostErr
}

// replaceLost revokes a key whose value was lost, and mints another one.
func (k *keyCreation) replaceLost(ctx, longer context.Context, lost *APIKey, lostErr error) (*MintedAPIKey, error) {
	if err := k.revokeLost(longer, lost, lostErr); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, lostErr // The run is stopping, so the value of another key could not be stored.
	}
	return k.mint(ctx)
}

// afterRefusedRotation handles a live key that cannot be rotated: it was revoked in the meantime, or it was already rotated
// and is in its grace period, which listings do not show. During that time, nothing proves who rotated it, so the newer key is
// not revoked but named in the error.
func (k *keyCreation) afterRefusedRotation(ctx context.Context, refused error) (*MintedAPIKey, error) {
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	named, err := k.keysNow(ctx)
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	old := findByID(named, k.old.ID)
	if old == nil || !k.isLive(old) {
		return k.mintIfUnique(ctx, named)
	}
	now := k.client.conn.Clock.Now()
	newer := collection.Filter(named, func(key *APIKey) bool {
		return key.ID != old.ID && key.ID != k.old.PreviousID && key.CreatedAt >= old.CreatedAt && now.Sub(key.CreatedAt.Time()) <= maxGracePeriod+tolerance
	})
	live := collection.Filter(newer, k.isLive)
	switch {
	case transport.IsNotFound(refused) || len(newer) == 0:
		return nil, refused
	case len(live) > 0:
		return nil, &KeyLeftError{KeyID: old.ID, Found: describeKeys(live), Err: refused}
	}
	return k.mint(ctx) // The newer key was revoked.
}

// mintIfUnique mints a key unless another live key with the name exists.
func (k *keyCreation) mintIfUnique(ctx context.Context, named []APIKey) (*MintedAPIKey, error) {
	successor, others := k.namesakes(named)
	if len(others) > 0 {
		// The keys may be out of date.
		named, err := k.keysNow(ctx)
		if err != nil {
			return nil, k.client.accountGone(ctx, k.key.AccountID, err)
		}
		if successor, others = k.namesakes(named); len(others) > 0 {
			return nil, create.AlreadyExists(describeKeys(others))
		}
	}
	if successor != nil {
		if err := k.client.RevokeExistingKey(ctx, k.key.AccountID, successor.ID); err != nil && !collection.IsGone(err) {
			return nil, err
		}
	}
	return k.mint(ctx)
}

// namesakes counts a successor that the plan did not announce as one of the others, which prevent a mint.
func (k *keyCreation) namesakes(named []APIKey) (successor *APIKey, others []APIKey) {
	successor, others = k.client.namesakes(named, k.key, k.old)
	if successor != nil && successor.ID != k.old.RevokeID {
		return nil, append(others, *successor)
	}
	return successor, others
}

// mint mints a key. After a lost response, it revokes the key that was provably created before it retries.
func (k *keyCreation) mint(ctx context.Context) (*MintedAPIKey, error) {
	for attempt := 1; ; attempt++ {
		since := k.client.conn.ServiceTime()
		minted, err := k.send(ctx, transport.Request{
			Op:   transport.Operation{Name: "createApiKey", Method: http.MethodPost, Route: "/api/v0/service-accounts/{serviceAccountId}/api-keys"},
			Path: []string{k.key.AccountID},
			Body: struct {
				Name      string `json:"name"`
				ExpiresAt int64  `json:"expiresAt,omitempty"`
			}{k.key.Name, millisOf(k.key.ExpiresAt)},
		})
		if err == nil || !transport.IsAmbiguous(err) {
			return minted, err
		}
		if err := k.revokeLostMint(ctx, since, err); err != nil {
			return nil, err
		}
		if attempt == mintAttempts || ctx.Err() != nil {
			return nil, err
		}
	}
}

// revokeLostMint revokes the key that a mint without a response created.
func (k *keyCreation) revokeLostMint(ctx context.Context, since time.Time, lostErr error) error {
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	proven, found, err := k.findLost(ctx, since)
	if err == nil && len(proven) == 1 {
		return k.revokeLost(ctx, &proven[0], lostErr)
	}
	return k.lostError(found, errors.Join(lostErr, err))
}

// findLost searches for the key of a lost response: found are all new live keys with the name, and proven are those that only
// this request can have created.
func (k *keyCreation) findLost(ctx context.Context, since time.Time) (proven, found []APIKey, err error) {
	conn := k.client.conn
	found, err = create.FindAfterLoss(ctx, conn, 1, func(ctx context.Context) ([]APIKey, error) {
		named, err := k.keysNow(ctx)
		return collection.Filter(named, func(key *APIKey) bool { return k.isLive(key) && !k.snapshot.Contains(key.ID) }), err
	})
	proof := mintProof{expiresAt: wire.Millis(millisOf(k.key.ExpiresAt)), since: since, until: conn.ServiceTime(), existed: k.snapshot.Contains}
	return collection.Filter(found, proof.holds), found, err
}

// send sends a mint or a rotation. A response without the value, or with another key, counts as lost. If the response has no
// creation time, its date is used.
func (k *keyCreation) send(ctx context.Context, r transport.Request) (*MintedAPIKey, error) {
	keys, n := k.client.keys, k.key
	r.Noun = "apiKey"
	response, err := k.client.conn.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		keys.Invalidate(n.AccountID)
		return nil, err
	}
	minted := &MintedAPIKey{}
	if err := wire.Decode(response.Body, r.Noun, minted); err != nil {
		return nil, transport.NewTransportError(r.Op, err)
	}
	if minted.ID == "" || minted.Value == "" {
		return nil, r.Unexpected("the field id or value of apiKey is missing")
	}
	if k.snapshot.Contains(minted.ID) || minted.Name != "" && minted.Name != n.Name {
		return nil, r.Unexpected(fmt.Sprintf("it contains API key %s (%q) instead of a new one named %q", minted.ID, minted.Name, n.Name))
	}
	if minted.CreatedAt == 0 && !response.At.IsZero() {
		minted.CreatedAt = wire.Millis(response.At.UnixMilli())
	}
	keys.Put(n.AccountID, &APIKey{AccountID: n.AccountID, ID: minted.ID, Name: n.Name, Fingerprint: minted.Fingerprint, CreatedAt: minted.CreatedAt, ExpiresAt: minted.ExpiresAt})
	return minted, nil
}

// revokeLost revokes a key whose value was lost with its response.
func (k *keyCreation) revokeLost(ctx context.Context, key *APIKey, lostErr error) error {
	lost := describeKeys([]APIKey{*key})
	switch err := k.client.RevokeExistingKey(ctx, key.AccountID, key.ID); {
	case err == nil:
		create.Recovered(ctx, create.Recovery{Objects: lost, AreRevoked: true})
	case !collection.IsGone(err):
		return &KeyLeftError{Found: lost, Err: errors.Join(lostErr, err)}
	}
	return nil
}

func millisOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
