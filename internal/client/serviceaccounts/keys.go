package serviceaccounts

import (
	"context"
	"net/http"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// APIKey is a key of a service account as a listing shows it. Its value is never shown again.
type APIKey struct {
	// AccountID is the service account's ID. The service does not return it; the client fills it in.
	AccountID   string           `json:"-"`
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Fingerprint string           `json:"fingerprint"`
	CreatedAt   transport.Millis `json:"createdAt"`
	// IsRevoked is false while a key that was rotated lives out its grace period.
	IsRevoked bool             `json:"isRevoked"`
	ExpiresAt transport.Millis `json:"expiresAt"`
	RevokedAt transport.Millis `json:"revokedAt"`
}

// IsLive reports that the key authenticates at the given time, as far as the key itself decides it.
func (k *APIKey) IsLive(now time.Time) bool {
	return !k.IsRevoked && (k.ExpiresAt == 0 || k.ExpiresAt.Time().After(now))
}

// MintedAPIKey is the answer to a mint or a rotation, the only one that holds the value.
type MintedAPIKey struct {
	ID          string           `json:"id"`
	Value       string           `json:"value"`
	Fingerprint string           `json:"fingerprint"`
	Name        string           `json:"name"`
	ExpiresAt   transport.Millis `json:"expiresAt"`
	// CreatedAt is the time of the answer, to the second, where the answer does not hold it.
	CreatedAt transport.Millis `json:"createdAt"`
}

func (k *APIKey) Identifier() string { return k.ID }

func (k *APIKey) MissingField() string {
	if k.Name == "" {
		return "name"
	}
	return ""
}

// ListKeys lists all keys of a service account, dead ones too, in no particular order. There is no read of a single
// key, so reads in a short time share one listing. If the account does not exist, the error is a *GoneError.
func (c *Client) ListKeys(ctx context.Context, accountID string) ([]APIKey, error) {
	keys, err := c.keys.All(ctx, accountID)
	return keys, c.accountGone(ctx, accountID, err)
}

// GetKey returns one key of a service account from the same listing; nil if it is not there, nor in another one that is
// made then. A key that is taken for dead is replaced, and listings show dead keys too.
func (c *Client) GetKey(ctx context.Context, accountID, keyID string) (*APIKey, error) {
	found, err := c.keys.LookupTwice(ctx, accountID, keyID)
	return found, c.accountGone(ctx, accountID, err)
}

// KnownKeysNamed returns the keys of a name as far as this process knows. Unlike a shared listing, that is not asked for
// anew after each write. Dead keys are among them, except those that this process revoked.
func (c *Client) KnownKeysNamed(ctx context.Context, accountID, name string) ([]APIKey, error) {
	known, err := c.knownKeys(ctx, NewAPIKey{AccountID: accountID, Name: name})
	return known.Named, err
}

// accountGone turns a 404 for an account's keys into a *GoneError where the account itself is gone.
func (c *Client) accountGone(ctx context.Context, accountID string, err error) error {
	if !transport.IsNotFound(err) {
		return err
	}
	return c.GoneWithAccount(ctx, accountID, &collection.UnprovenGoneError{Err: err, Listing: err})
}

// listKeys always asks the service.
func (c *Client) listKeys(ctx context.Context, accountID string) ([]APIKey, error) {
	r := transport.Request{
		Op:   transport.Operation{Name: "listApiKeys", Method: http.MethodGet, Route: "/api/v0/service-accounts/{serviceAccountId}/api-keys"},
		Path: []string{accountID},
	}
	keys, err := transport.CallList[APIKey](ctx, c.conn, r, "apiKeys")
	for i := range keys {
		keys[i].AccountID = accountID
	}
	return keys, err
}

// RevokeKey ends a key at once. Revoking a revoked key succeeds.
func (c *Client) RevokeKey(ctx context.Context, accountID, keyID string) error {
	err := c.conn.CallIgnoringBody(ctx, transport.Request{
		Op:   transport.Operation{Name: "revokeApiKey", Method: http.MethodPost, Route: "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/revoke", Repeatable: true},
		Path: []string{accountID, keyID},
	})
	if !transport.IsNotFound(err) { // What was read of the account's keys serves to tell why there is none.
		c.keys.AfterDelete(accountID, keyID, err)
	}
	return err
}

// RevokeExistingKey revokes a key. For one that is gone the error is a *GoneError.
func (c *Client) RevokeExistingKey(ctx context.Context, accountID, keyID string) error {
	err := c.RevokeKey(ctx, accountID, keyID)
	if transport.IsNotFound(err) {
		err = c.GoneWithAccount(ctx, accountID, c.keys.ConfirmGone(ctx, accountID, keyID, err))
	}
	return err
}

// CheckKeyAccess is CheckAccess for an API key.
func (c *Client) CheckKeyAccess(ctx context.Context, account string) error {
	return c.conn.CheckOnce("API keys", func() error { _, err := c.keys.Snapshot(ctx, account, "", c.conn.LastResponseAt()); return err })
}
