package serviceaccounts

import (
	"context"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// APIKey is a key of a service account in a listing. The service never returns its value again.
type APIKey struct {
	// AccountID is the service account's ID. The service does not return it; the client fills it in.
	AccountID   string      `json:"-"`
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Fingerprint string      `json:"fingerprint"`
	CreatedAt   wire.Millis `json:"createdAt"`
	// IsRevoked is false while a rotated key is in its grace period.
	IsRevoked bool        `json:"isRevoked"`
	ExpiresAt wire.Millis `json:"expiresAt"`
	RevokedAt wire.Millis `json:"revokedAt"`
}

// IsLive reports whether the key is neither revoked nor expired. Now is the service's time.
func (k *APIKey) IsLive(now time.Time) bool {
	return !k.IsRevoked && (k.ExpiresAt == 0 || k.ExpiresAt.Time().After(now))
}

// MintedAPIKey is the response to a mint or a rotation. No other response has the value.
type MintedAPIKey struct {
	ID          string      `json:"id"`
	Value       string      `json:"value"`
	Fingerprint string      `json:"fingerprint"`
	Name        string      `json:"name"`
	ExpiresAt   wire.Millis `json:"expiresAt"`
	// CreatedAt is the date of the response if the response has no creation time.
	CreatedAt wire.Millis `json:"createdAt"`
}

func (k *APIKey) Ref() wire.Ref {
	return wire.Ref{Object: "API key", Name: k.Name, ID: k.ID, ImportID: k.AccountID + "/" + k.ID, CreatedAt: k.CreatedAt.Time()}
}

func (k *APIKey) MissingField() string { return wire.MissingIf(k.Name == "", "name") }

// ListKeys lists all keys of a service account, including dead ones, in no particular order. Calls in a short time share
// one listing. If the account does not exist, the error is a *MissingError.
func (c *Client) ListKeys(ctx context.Context, accountID string) ([]APIKey, error) {
	keys, err := c.keys.All(ctx, accountID)
	return keys, c.GoneWithAccount(ctx, accountID, err)
}

// PeekKey returns an API key from the listing that reads share now, without a request, or nil.
func (c *Client) PeekKey(ctx context.Context, accountID, keyID string) *APIKey {
	return c.keys.Peek(ctx, accountID, keyID)
}

// GetKey returns one key of a service account from the same listing; nil if it lacks the key.
func (c *Client) GetKey(ctx context.Context, accountID, keyID string) (*APIKey, error) {
	found, err := c.keys.Lookup(ctx, accountID, keyID)
	return found, c.GoneWithAccount(ctx, accountID, err)
}

// KeysNamed returns the keys with a name, as this process knows them before a creation. It includes dead keys, except those that this
// process revoked.
func (c *Client) KeysNamed(ctx context.Context, accountID, name string) ([]APIKey, error) {
	before, err := c.keys.View(ctx, accountID)
	if err != nil {
		return nil, c.GoneWithAccount(ctx, accountID, err)
	}
	return before.Find(wire.HasName[APIKey](name)), nil
}

func (c *Client) listKeys(ctx context.Context, accountID string) ([]APIKey, error) {
	r := transport.Get("listApiKeys", "/api/v0/service-accounts/{serviceAccountId}/api-keys", accountID)
	keys, err := transport.CallList[APIKey](ctx, c.conn, r, "apiKeys", nil)
	for i := range keys {
		keys[i].AccountID = accountID
	}
	return keys, err
}

// RevokeKey revokes a key immediately. Revoking a revoked key succeeds.
func (c *Client) RevokeKey(ctx context.Context, accountID, keyID string) error {
	r := transport.Post("revokeApiKey", "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/revoke", accountID, keyID)
	err := c.conn.CallIgnoringBody(ctx, r.Repeatable())
	return c.keys.AfterDelete(accountID, keyID, err)
}

// RevokeExistingKey revokes a key. If the key is gone, the error is a *MissingError. A key that is listed as live must not be taken for a
// revoked one because of a 404.
func (c *Client) RevokeExistingKey(ctx context.Context, accountID, keyID string) error {
	err := c.RevokeKey(ctx, accountID, keyID)
	if !transport.IsNotFound(err) {
		return err
	}
	switch found, listErr := c.GetKey(ctx, accountID, keyID); {
	case listErr != nil:
		return listErr
	case found != nil && found.IsLive(c.conn.ServiceNow(ctx)):
		return err
	}
	return collection.Gone(err)
}
