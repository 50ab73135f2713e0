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
)

// mintAttempts bounds how often a key is minted when every answer is lost.
const mintAttempts = 3

// NewAPIKey says which key is minted.
type NewAPIKey struct {
	AccountID, Name string
	// ExpiresAt is zero for a key that never expires.
	ExpiresAt time.Time
	// Lifetime is set where ExpiresAt was counted from now.
	Lifetime time.Duration
}

// Renewal says in whose place a key is made, and how.
type Renewal struct {
	// ID is the present key's.
	ID string
	// Spares is the ID of another live key of the same name that may stay, such as one in its grace period; empty for none.
	Spares string
	// Revokes is the ID of the key that a rotation of the present one left and that the plan named; empty for none.
	Revokes string
	// GraceMinutes is how long a present key that lives still authenticates, 0 to 10.
	GraceMinutes int64
}

// CreateKey mints a key. A live key of the same name stops it with an *ExistsError before anything is sent: it may be
// what an interrupted run left, and nobody has its value then.
func (c *Client) CreateKey(ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
	return c.locked(ctx, n, func() (*MintedAPIKey, error) {
		known, err := c.knownKeys(ctx, n)
		if err != nil {
			return nil, err
		}
		return c.mintWhereFree(ctx, n, Renewal{}, known)
	})
}

// CreateKeyAmongOthers mints a key although there may be live keys of the same name.
func (c *Client) CreateKeyAmongOthers(ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
	return c.locked(ctx, n, func() (*MintedAPIKey, error) {
		known, err := c.knownKeys(ctx, n)
		if err != nil {
			return nil, err
		}
		return c.mint(ctx, n, known)
	})
}

// RenewKey makes a key in the place of another one. If that lives it is rotated; if the answer is lost, so is the new
// value: the key that was provably made is revoked, and another one is minted. If it is dead a key is minted, and what an
// interrupted rotation provably left is revoked, provided that the plan named it; any other live key of the name stops it
// as in CreateKey.
func (c *Client) RenewKey(ctx context.Context, n NewAPIKey, old Renewal) (*MintedAPIKey, error) {
	return c.locked(ctx, n, func() (*MintedAPIKey, error) {
		known, err := c.knownKeys(ctx, n)
		if err != nil {
			return nil, err
		}
		if present := withID(known.Named, old.ID); present == nil || !present.IsLive(c.conn.Clock.Now()) {
			return c.mintWhereFree(ctx, n, old, known)
		}
		return c.rotate(ctx, n, old, known)
	})
}

func (c *Client) knownKeys(ctx context.Context, n NewAPIKey) (collection.Snapshot[APIKey], error) {
	known, err := c.keys.Snapshot(ctx, n.AccountID, n.Name, c.conn.LastResponseAt())
	return known, c.accountGone(ctx, n.AccountID, err)
}

// locked keeps two creations of one name apart, which would not know of each other's keys.
func (c *Client) locked(ctx context.Context, n NewAPIKey, work func() (*MintedAPIKey, error)) (*MintedAPIKey, error) {
	release, err := c.keys.Creating.Lock(ctx, n.AccountID+"/"+n.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	return work()
}

func (c *Client) rotate(ctx context.Context, n NewAPIKey, old Renewal, known collection.Snapshot[APIKey]) (*MintedAPIKey, error) {
	since := c.conn.ServiceTime()
	made, err := c.minted(ctx, n, transport.Request{
		Op:   transport.Operation{Name: "rotateApiKey", Method: http.MethodPost, Route: "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/rotate"},
		Path: []string{n.AccountID, old.ID},
		Body: struct {
			ExpiresAt    int64 `json:"expiresAt,omitempty"`
			GraceMinutes int64 `json:"gracePeriodMinutes,omitempty"`
		}{millisOf(n.ExpiresAt), old.GraceMinutes},
	}, known)
	switch {
	case err == nil:
		return made, nil
	case transport.IsAmbiguous(err):
		return c.afterLostRotation(ctx, n, old, known, since, err)
	case transport.StatusOf(err) == http.StatusBadRequest || transport.IsNotFound(err) || transport.IsConflict(err):
		return c.afterRefusedRotation(ctx, n, old, known, err)
	}
	return nil, err
}

// afterLostRotation revokes the key that a rotation without an answer made, and mints another one. Where none is found,
// the old key is as it was.
func (c *Client) afterLostRotation(ctx context.Context, n NewAPIKey, old Renewal, known collection.Snapshot[APIKey], since time.Time, lost error) (*MintedAPIKey, error) {
	longer, cancel := transport.Outlive(ctx)
	defer cancel()
	proven, found, err := c.lostKeys(longer, n, known, since)
	if err == nil && old.GraceMinutes == 0 {
		// The service makes the new key and ends the old one at once.
		present, readErr := c.keys.Lookup(longer, n.AccountID, old.ID)
		if present != nil && present.IsLive(c.conn.Clock.Now()) {
			return nil, lost
		}
		err = readErr
		proven = collection.Filter(proven, func(k *APIKey) bool { return present != nil && isSuccessor(present, k) })
	}
	switch {
	case err != nil:
		return nil, &create.LostError{Object: "API key", Name: n.Name, Err: errors.Join(lost, err)}
	case len(proven) == 1:
		if err := c.revokeLost(longer, &proven[0], lost); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, lost // Nobody is left to store the value of another key.
		}
		return c.mint(ctx, n, known)
	case len(found) > 0:
		return nil, &create.LostError{Object: "API key", Name: n.Name, Found: describeKeys(found), Err: lost}
	}
	return nil, lost
}

// afterRefusedRotation finds out why a key that was live could not be rotated: it died meanwhile; or it was rotated
// already and lives out its grace period, which a listing does not show. Whose rotation that was nothing proves before
// the grace period has ended, so its key is named and not touched.
func (c *Client) afterRefusedRotation(ctx context.Context, n NewAPIKey, old Renewal, known collection.Snapshot[APIKey], refused error) (*MintedAPIKey, error) {
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	namesakes, err := c.keys.FindNow(ctx, n.AccountID, n.Name)
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	now := c.conn.Clock.Now()
	present := withID(namesakes, old.ID)
	if present == nil || !present.IsLive(now) {
		return c.mintAmong(ctx, n, old, namesakes, known)
	}
	newer := collection.Filter(namesakes, func(k *APIKey) bool {
		return k.ID != old.ID && k.ID != old.Spares && k.CreatedAt >= present.CreatedAt && now.Sub(k.CreatedAt.Time()) <= maxGrace+sameMoment
	})
	live := collection.Filter(newer, func(k *APIKey) bool { return k.IsLive(now) })
	switch {
	case transport.IsNotFound(refused) || len(newer) == 0:
		return nil, refused
	case len(live) > 0:
		return nil, &RotatedError{KeyID: old.ID, Found: describeKeys(live), Err: refused}
	}
	// The replacement that stood in the way was revoked by hand.
	return c.mint(ctx, n, known)
}

// mintWhereFree mints a key where nothing but a spared key, and what a rotation of the present one left, is in its way.
func (c *Client) mintWhereFree(ctx context.Context, n NewAPIKey, old Renewal, known collection.Snapshot[APIKey]) (*MintedAPIKey, error) {
	namesakes := known.Named
	if _, others := c.successors(namesakes, n, old); len(others) > 0 {
		// What is known may be out of date by now.
		var err error
		if namesakes, err = c.keys.FindNow(ctx, n.AccountID, n.Name); err != nil {
			return nil, c.accountGone(ctx, n.AccountID, err)
		}
	}
	return c.mintAmong(ctx, n, old, namesakes, known)
}

func (c *Client) mintAmong(ctx context.Context, n NewAPIKey, old Renewal, namesakes []APIKey, known collection.Snapshot[APIKey]) (*MintedAPIKey, error) {
	left, others := c.successors(namesakes, n, old)
	if len(others) > 0 {
		return nil, create.AlreadyExists(describeKeys(others))
	}
	if left != nil {
		if err := c.RevokeExistingKey(ctx, n.AccountID, left.ID); err != nil && !collection.IsGone(err) {
			return nil, err
		}
	}
	return c.mint(ctx, n, known)
}

// successors returns the key that a rotation of the present one left and that the plan named, and the other live keys that
// a new one must not stand beside.
func (c *Client) successors(namesakes []APIKey, n NewAPIKey, old Renewal) (left *APIKey, others []APIKey) {
	now := c.conn.Clock.Now()
	namesakes = collection.Filter(namesakes, func(k *APIKey) bool { return k.ID != old.Spares })
	if left = Successor(namesakes, old.ID, n, now); left != nil && left.ID != old.Revokes {
		left = nil
	}
	return left, collection.Filter(namesakes, func(k *APIKey) bool { return k.IsLive(now) && (left == nil || k.ID != left.ID) })
}

// mint sends the creation, and revokes what a lost answer provably left before it sends it again.
func (c *Client) mint(ctx context.Context, n NewAPIKey, known collection.Snapshot[APIKey]) (*MintedAPIKey, error) {
	for attempt := 1; ; attempt++ {
		since := c.conn.ServiceTime()
		made, lost := c.minted(ctx, n, transport.Request{
			Op:   transport.Operation{Name: "createApiKey", Method: http.MethodPost, Route: "/api/v0/service-accounts/{serviceAccountId}/api-keys"},
			Path: []string{n.AccountID},
			Body: struct {
				Name      string `json:"name"`
				ExpiresAt int64  `json:"expiresAt,omitempty"`
			}{n.Name, millisOf(n.ExpiresAt)},
		}, known)
		if lost == nil || !transport.IsAmbiguous(lost) {
			return made, lost
		}
		if err := c.revokeLostMint(ctx, n, known, since, lost); err != nil {
			return nil, err
		}
		if attempt == mintAttempts || ctx.Err() != nil {
			return nil, lost
		}
	}
}

// revokeLostMint revokes the key that a creation without an answer made; nil means that it is done.
func (c *Client) revokeLostMint(ctx context.Context, n NewAPIKey, known collection.Snapshot[APIKey], since time.Time, lost error) error {
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	proven, found, err := c.lostKeys(ctx, n, known, since)
	if err == nil && len(proven) == 1 {
		return c.revokeLost(ctx, &proven[0], lost)
	}
	return &create.LostError{Object: "API key", Name: n.Name, Found: describeKeys(found), Err: errors.Join(lost, err)}
}

// lostKeys looks for what a request without an answer made: what is proven to be it, and every live key of the name that is new.
func (c *Client) lostKeys(ctx context.Context, n NewAPIKey, known collection.Snapshot[APIKey], since time.Time) (proven, found []APIKey, err error) {
	found, err = create.FindAfterLoss(ctx, c.conn, 1, func(ctx context.Context) ([]APIKey, error) {
		now, err := c.keys.FindNow(ctx, n.AccountID, n.Name)
		return collection.Filter(now, func(k *APIKey) bool { return k.IsLive(c.conn.Clock.Now()) && !known.Contains(k.ID) }), err
	})
	proof := mintProof{expiresAt: transport.Millis(millisOf(n.ExpiresAt)), since: since, until: c.conn.ServiceTime(), knows: known.Contains}
	return collection.Filter(found, proof.covers), found, err
}

// minted sends a request that makes a key. An answer without the value, or with another key, is no better than none. The
// time of creation is not in it, so that of the answer serves, by the service's own clock.
func (c *Client) minted(ctx context.Context, n NewAPIKey, r transport.Request, known collection.Snapshot[APIKey]) (*MintedAPIKey, error) {
	r.Noun = "apiKey"
	answer, err := c.conn.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		c.keys.Invalidate(n.AccountID)
		return nil, err
	}
	made := &MintedAPIKey{}
	if err := transport.Decode(answer.Body, r.Noun, made); err != nil {
		return nil, transport.NewTransportError(r.Op, err)
	}
	if made.ID == "" || made.Value == "" {
		return nil, r.Unexpected("it lacks the ID or the value of the key")
	}
	if known.Contains(made.ID) || made.Name != "" && made.Name != n.Name {
		return nil, r.Unexpected(fmt.Sprintf("it contains API key %s (%q) instead of a new one named %q", made.ID, made.Name, n.Name))
	}
	if made.CreatedAt == 0 && !answer.At.IsZero() {
		made.CreatedAt = transport.Millis(answer.At.UnixMilli())
	}
	c.keys.Put(n.AccountID, &APIKey{AccountID: n.AccountID, ID: made.ID, Name: n.Name, Fingerprint: made.Fingerprint, CreatedAt: made.CreatedAt, ExpiresAt: made.ExpiresAt})
	return made, nil
}

// revokeLost revokes a key whose value was lost with an answer.
func (c *Client) revokeLost(ctx context.Context, k *APIKey, lost error) error {
	if err := c.RevokeExistingKey(ctx, k.AccountID, k.ID); err != nil && !collection.IsGone(err) {
		return &UnrevokedError{Found: describeKeys([]APIKey{*k}), Err: errors.Join(lost, err)}
	}
	return nil
}

func millisOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
