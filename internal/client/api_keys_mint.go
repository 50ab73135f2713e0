package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// mintAttempts bounds how often a key is minted when every answer is lost.
const mintAttempts = 3

// maxGrace is the longest grace period that the service grants.
const maxGrace = 10 * time.Minute

// sameMoment is how far apart the two times may be that the service writes in one rotation.
const sameMoment = 2 * time.Second

// NewAPIKey says which key CreateAPIKey mints.
type NewAPIKey struct {
	AccountID, Name string
	// ExpiresAt is zero for a key that never expires.
	ExpiresAt time.Time
	// Replaces is the ID of the dead key in whose place the new one is minted; empty for none.
	Replaces string
	// Spares is the ID of a live key of the same name that may stay, such as one in its grace period; empty for none.
	Spares string
	// AmongOthers says that live keys of the same name are no obstacle.
	AmongOthers bool
}

// APIKeyRotation says what RotateAPIKey does. Name is the key's name, which the new key inherits.
type APIKeyRotation struct {
	AccountID, KeyID, Name string
	// ExpiresAt is zero for a new key that never expires.
	ExpiresAt time.Time
	// GraceMinutes is how long the old key still authenticates, 0 to 10.
	GraceMinutes int64
	// Spares is as in NewAPIKey.
	Spares string
}

// CreateAPIKey mints a key. A live key of the same name stops it with an *ExistsError before anything is created,
// except where it is provably what an interrupted rotation of the replaced key left: nobody has its value, so it is revoked.
//
// If the answer is lost, so is the value. The key of that name whose ID was not there before is the one this call made;
// it is revoked, and another one is minted.
func (c *Client) CreateAPIKey(ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
	release, err := c.minting.lock(ctx, n.AccountID+"/"+n.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	defer c.apiKeys.discard()
	namesakes, err := c.namesakes(ctx, n.AccountID, n.Name)
	if err != nil {
		return nil, err
	}
	return c.replace(ctx, n, namesakes)
}

// RotateAPIKey replaces a live key. If it is dead by now, or an earlier rotation of it was interrupted, a new key is
// minted in its place. A lost answer is recovered as in CreateAPIKey: the key whose value nobody has is revoked.
func (c *Client) RotateAPIKey(ctx context.Context, r APIKeyRotation) (*MintedAPIKey, error) {
	release, err := c.minting.lock(ctx, r.AccountID+"/"+r.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	defer c.apiKeys.discard()
	namesakes, err := c.namesakes(ctx, r.AccountID, r.Name)
	if err != nil {
		return nil, err
	}
	n := NewAPIKey{AccountID: r.AccountID, Name: r.Name, ExpiresAt: r.ExpiresAt, Replaces: r.KeyID, Spares: r.Spares}
	old := withID(namesakes, r.KeyID)
	if old == nil || !old.IsLive(c.clock.Now()) {
		return c.replace(ctx, n, namesakes)
	}
	made, err := c.minted(ctx, request{
		op:   operation{name: "rotateApiKey", method: http.MethodPost, route: "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/rotate"},
		path: []string{r.AccountID, r.KeyID},
		body: struct {
			ExpiresAt    int64 `json:"expiresAt,omitempty"`
			GraceMinutes int64 `json:"gracePeriodMinutes,omitempty"`
		}{millisOf(r.ExpiresAt), r.GraceMinutes},
	})
	switch {
	case err == nil:
		return made, nil
	case isAmbiguous(err):
		return c.afterLostRotation(ctx, n, namesakes, r.GraceMinutes, err)
	case StatusOf(err) == http.StatusBadRequest || IsNotFound(err) || IsConflict(err):
		return c.afterRefusedRotation(ctx, r, n, err)
	}
	return nil, err
}

// afterLostRotation looks for the key that a rotation without an answer made. Where there is none, the old key is as it was.
func (c *Client) afterLostRotation(ctx context.Context, n NewAPIKey, before []APIKey, grace int64, lost error) (*MintedAPIKey, error) {
	var old *APIKey
	found, err := findAfterLoss(ctx, c, func(ctx context.Context) ([]APIKey, error) {
		now, err := c.namesakes(ctx, n.AccountID, n.Name)
		old = withID(now, n.Replaces)
		return without(c.live(now), before), err
	})
	if err != nil {
		return nil, errors.Join(lost, err)
	}
	// Without a grace period the rotation has revoked the old key; if that lives, somebody else made what was found.
	if old != nil && grace == 0 && !old.IsRevoked || len(found) == 0 {
		return nil, lost
	}
	if len(found) > 1 && old != nil && old.IsRevoked {
		found = slices.DeleteFunc(found, func(k APIKey) bool { return !isSuccessor(old, &k) })
	}
	if len(found) != 1 {
		return nil, errors.Join(lost, existingKeys(found))
	}
	if err := c.revokeLost(ctx, &found[0], lost); err != nil {
		return nil, err
	}
	return c.mint(ctx, n, append(before, found[0]))
}

// afterRefusedRotation finds out why a live key could not be rotated: it died meanwhile; or an interrupted run has
// rotated it and it lives out its grace period, which a listing does not show. In the second case the only newer live
// key of the name is its replacement, provided that nothing else is wrong with the request.
func (c *Client) afterRefusedRotation(ctx context.Context, r APIKeyRotation, n NewAPIKey, refused error) (*MintedAPIKey, error) {
	namesakes, err := c.namesakes(ctx, n.AccountID, n.Name)
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	now := c.clock.Now()
	old := withID(namesakes, r.KeyID)
	if old == nil || !old.IsLive(now) {
		return c.replace(ctx, n, namesakes)
	}
	graceEnd := now.Add(time.Duration(r.GraceMinutes) * time.Minute)
	if StatusOf(refused) == http.StatusNotFound ||
		old.ExpiresAt != 0 && old.ExpiresAt.Time().Before(graceEnd.Add(time.Minute)) ||
		!r.ExpiresAt.IsZero() && r.ExpiresAt.Before(now.Add(time.Minute)) {
		return nil, refused
	}
	newer := slices.DeleteFunc(c.live(namesakes), func(k APIKey) bool {
		return k.ID == r.KeyID || k.ID == r.Spares || k.CreatedAt < old.CreatedAt || now.Sub(k.CreatedAt.Time()) > maxGrace+sameMoment
	})
	switch len(newer) {
	case 0:
		return nil, refused
	case 1:
		if err := c.revokeLost(ctx, &newer[0], refused); err != nil {
			return nil, err
		}
		return c.mint(ctx, n, namesakes)
	}
	return nil, errors.Join(existingKeys(newer), refused)
}

// replace mints a key where nothing but dead or spared keys stands in its way.
func (c *Client) replace(ctx context.Context, n NewAPIKey, namesakes []APIKey) (*MintedAPIKey, error) {
	var obsolete []APIKey
	if !n.AmongOthers {
		old := withID(namesakes, n.Replaces)
		var others []APIKey
		for _, k := range c.live(namesakes) {
			switch {
			case k.ID == n.Spares:
			case k.ID == n.Replaces, old != nil && isSuccessor(old, &k):
				obsolete = append(obsolete, k)
			default:
				others = append(others, k)
			}
		}
		if len(others) > 0 {
			return nil, existingKeys(others)
		}
	}
	for _, k := range obsolete {
		if err := c.RevokeAPIKey(ctx, n.AccountID, k.ID); err != nil && !IsNotFound(err) {
			return nil, err
		}
	}
	return c.mint(ctx, n, namesakes)
}

// mint sends the creation, and revokes what a lost answer left before it sends it again. Known are the keys of the name that were there before.
func (c *Client) mint(ctx context.Context, n NewAPIKey, known []APIKey) (*MintedAPIKey, error) {
	for attempt := 1; ; attempt++ {
		made, lost := c.minted(ctx, request{
			op:   operation{name: "createApiKey", method: http.MethodPost, route: "/api/v0/service-accounts/{serviceAccountId}/api-keys"},
			path: []string{n.AccountID},
			body: struct {
				Name      string `json:"name"`
				ExpiresAt int64  `json:"expiresAt,omitempty"`
			}{n.Name, millisOf(n.ExpiresAt)},
		})
		if lost == nil {
			return made, nil
		}
		if !isAmbiguous(lost) {
			return nil, lost
		}
		found, err := findAfterLoss(ctx, c, func(ctx context.Context) ([]APIKey, error) {
			now, err := c.namesakes(ctx, n.AccountID, n.Name)
			return without(c.live(now), known), err
		})
		if err != nil {
			return nil, &LostError{Object: "API key", Name: n.Name, Err: errors.Join(lost, err)}
		}
		switch len(found) {
		case 0:
			return nil, &LostError{Object: "API key", Name: n.Name, Err: lost}
		case 1:
			if err := c.revokeLost(ctx, &found[0], lost); err != nil {
				return nil, err
			}
		default:
			return nil, &LostError{Object: "API key", Name: n.Name, Err: errors.Join(lost, existingKeys(found))}
		}
		if attempt == mintAttempts || ctx.Err() != nil {
			return nil, lost
		}
		known = append(known, found[0])
	}
}

// minted sends a request that makes a key. An answer without the value is no better than none.
func (c *Client) minted(ctx context.Context, r request) (*MintedAPIKey, error) {
	r.noun = "apiKey"
	made, err := call[MintedAPIKey](ctx, c, r)
	if err == nil && (made.ID == "" || made.Value == "") {
		err = &TransportError{Operation: r.op.name, Method: r.op.method, Route: r.op.route, Err: errors.New("the answer lacks the key's ID or value")}
	}
	return made, err
}

// revokeLost revokes a key whose value was lost with an answer, also when the run is being stopped.
func (c *Client) revokeLost(ctx context.Context, k *APIKey, lost error) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lossCheckTimeout)
		defer cancel()
	}
	if err := c.RevokeAPIKey(ctx, k.AccountID, k.ID); err != nil && !IsNotFound(err) {
		return errors.Join(existingKeys([]APIKey{*k}), lost, err)
	}
	return nil
}

// namesakes lists the keys of that name, dead ones too.
func (c *Client) namesakes(ctx context.Context, accountID, name string) ([]APIKey, error) {
	all, err := c.listAPIKeys(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(k APIKey) bool { return k.Name != name }), nil
}

func (c *Client) live(keys []APIKey) []APIKey {
	now := c.clock.Now()
	return slices.DeleteFunc(slices.Clone(keys), func(k APIKey) bool { return !k.IsLive(now) })
}

func without(keys, known []APIKey) []APIKey {
	return slices.DeleteFunc(keys, func(k APIKey) bool { return withID(known, k.ID) != nil })
}

func withID(keys []APIKey, id string) *APIKey {
	i := slices.IndexFunc(keys, func(k APIKey) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// isSuccessor reports that a key was made by the rotation that ended another one: the service does both at once, so
// that the end of the old key is the birth of the new one plus the grace period, a whole number of minutes.
func isSuccessor(old, k *APIKey) bool {
	if !old.IsRevoked || old.RevokedAt == 0 || k.CreatedAt == 0 || k.CreatedAt < old.CreatedAt || k.ID == old.ID {
		return false
	}
	apart := old.RevokedAt.Time().Sub(k.CreatedAt.Time())
	grace := apart.Round(time.Minute)
	return grace >= 0 && grace <= maxGrace && (apart-grace).Abs() <= sameMoment
}

// existingKeys names keys that this run may not touch, the newest first.
func existingKeys(keys []APIKey) error {
	slices.SortFunc(keys, func(a, b APIKey) int { return int(b.CreatedAt - a.CreatedAt) })
	var all []error
	for _, k := range keys {
		all = append(all, &ExistsError{Object: "API key", Name: k.Name, ID: k.ID, ImportID: k.AccountID + "/" + k.ID, CreatedAt: k.CreatedAt.Time()})
	}
	return errors.Join(all...)
}

func millisOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// RevokeReplacement revokes what an interrupted rotation of a key provably left behind. It returns the live keys of the
// same name that were made later and may have another origin; spares is a key that is none of them.
func (c *Client) RevokeReplacement(ctx context.Context, accountID, keyID, spares string) ([]APIKey, error) {
	all, err := c.listAPIKeys(ctx, accountID)
	if err != nil {
		return nil, err
	}
	old := withID(all, keyID)
	if old == nil {
		return nil, nil
	}
	var others []APIKey
	for _, k := range c.live(all) {
		switch {
		case k.Name != old.Name || k.ID == keyID || k.ID == spares || k.CreatedAt < old.CreatedAt:
		case isSuccessor(old, &k):
			if err := c.RevokeAPIKey(ctx, accountID, k.ID); err != nil && !IsNotFound(err) {
				return nil, err
			}
		default:
			others = append(others, k)
		}
	}
	return others, nil
}
