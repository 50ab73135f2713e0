package client

import (
	"context"
	"net/http"
	"time"
)

// APIKey is a key of a service account as a listing shows it. Its value is never shown again.
type APIKey struct {
	// AccountID is the service account's ID. The service does not return it; the client fills it in.
	AccountID   string `json:"-"`
	ID          string `json:"id"`
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	CreatedAt   Millis `json:"createdAt"`
	// IsRevoked is false while a key that was rotated lives out its grace period.
	IsRevoked bool   `json:"isRevoked"`
	ExpiresAt Millis `json:"expiresAt"`
	RevokedAt Millis `json:"revokedAt"`
}

// IsLive reports that the key authenticates at the given time, as far as the key itself decides it.
func (k *APIKey) IsLive(now time.Time) bool {
	return !k.IsRevoked && (k.ExpiresAt == 0 || k.ExpiresAt.Time().After(now))
}

// MintedAPIKey is the answer to a mint or a rotation, the only one that holds the value.
type MintedAPIKey struct {
	ID          string `json:"id"`
	Value       string `json:"value"`
	Fingerprint string `json:"fingerprint"`
	Name        string `json:"name"`
	ExpiresAt   Millis `json:"expiresAt"`
	// CreatedAt is the time of the answer, to the second, where the answer does not hold it.
	CreatedAt Millis `json:"createdAt"`
}

func (k *APIKey) identifier() string { return k.ID }

func (k *APIKey) missing() string {
	if k.Name == "" {
		return "name"
	}
	return ""
}

// APIKeys lists all keys of a service account, dead ones too, in no particular order. There is no read of a single
// key, so reads in a short time share one listing. If the account does not exist, the error is a *GoneError.
func (c *serviceAccountsClient) APIKeys(ctx context.Context, accountID string) ([]APIKey, error) {
	keys, err := c.apiKeys.all(ctx, accountID)
	return keys, c.accountGone(ctx, accountID, err)
}

// APIKey returns one key of a service account from the same listing; nil if it is not there, nor in another one that is
// made then. A key that is taken for dead is replaced, and listings show dead keys too.
func (c *serviceAccountsClient) APIKey(ctx context.Context, accountID, keyID string) (*APIKey, error) {
	found, err := c.apiKeys.lookUpTwice(ctx, accountID, keyID)
	return found, c.accountGone(ctx, accountID, err)
}

// KnownAPIKeysNamed returns the keys of a name as far as this process knows. Unlike a shared listing, that is not asked for
// anew after each write. Dead keys are among them, except those that this process revoked.
func (c *serviceAccountsClient) KnownAPIKeysNamed(ctx context.Context, accountID, name string) ([]APIKey, error) {
	known, err := c.knownKeys(ctx, NewAPIKey{AccountID: accountID, Name: name})
	return known.named, err
}

// accountGone turns a 404 for an account's keys into a *GoneError where the account itself is gone.
func (c *serviceAccountsClient) accountGone(ctx context.Context, accountID string, err error) error {
	if !IsNotFound(err) {
		return err
	}
	return c.goneWithAccount(ctx, accountID, &UnprovenGoneError{Err: err, Listing: err})
}

// listAPIKeys always asks the service.
func (c *serviceAccountsClient) listAPIKeys(ctx context.Context, accountID string) ([]APIKey, error) {
	r := request{
		op:   operation{name: "listApiKeys", method: http.MethodGet, route: "/api/v0/service-accounts/{serviceAccountId}/api-keys"},
		path: []string{accountID},
	}
	keys, err := callList[APIKey](ctx, c.conn, r, "apiKeys")
	for i := range keys {
		keys[i].AccountID = accountID
	}
	return keys, err
}

// RevokeAPIKey ends a key at once. Revoking a revoked key succeeds.
func (c *serviceAccountsClient) RevokeAPIKey(ctx context.Context, accountID, keyID string) error {
	err := c.callNoAnswer(ctx, request{
		op:   operation{name: "revokeApiKey", method: http.MethodPost, route: "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/revoke", repeatable: true},
		path: []string{accountID, keyID},
	})
	if !IsNotFound(err) { // What was read of the account's keys serves to tell why there is none.
		c.apiKeys.ended(accountID, keyID, err)
	}
	return err
}

// EndAPIKey revokes a key. For one that is gone the error is a *GoneError.
func (c *serviceAccountsClient) EndAPIKey(ctx context.Context, accountID, keyID string) error {
	err := c.RevokeAPIKey(ctx, accountID, keyID)
	if IsNotFound(err) {
		err = c.goneWithAccount(ctx, accountID, c.apiKeys.confirmGone(ctx, accountID, keyID, err))
	}
	return err
}

// CheckAPIKeys is CheckComputers for an API key.
func (c *serviceAccountsClient) CheckAPIKeys(ctx context.Context, account string) error {
	return c.checkOnce("API keys", func() error { _, err := c.apiKeys.known(ctx, account, "", c.lastHeard()); return err })
}
