package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

// MintedAPIKey is the answer to a mint or a rotation, the only one that holds the value. When the key was created is not in it.
type MintedAPIKey struct {
	ID          string `json:"id"`
	Value       string `json:"value"`
	Fingerprint string `json:"fingerprint"`
	Name        string `json:"name"`
	ExpiresAt   Millis `json:"expiresAt"`
}

// apiKeyListing reads a listing of keys, in its envelope or bare.
type apiKeyListing []APIKey

// UnmarshalJSON refuses an object that holds something else: taken for an empty listing, every key would count as gone and be replaced.
func (l *apiKeyListing) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return json.Unmarshal(data, (*[]APIKey)(l))
	}
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(data, &envelope); err != nil {
		return err
	}
	list, ok := envelope["apiKeys"]
	if !ok {
		return errors.New("it has no apiKeys")
	}
	return json.Unmarshal(list, (*[]APIKey)(l))
}

// APIKeys lists all keys of a service account, dead ones too, in no particular order. There is no read of a single
// key, so reads in a short time share one listing.
func (c *Client) APIKeys(ctx context.Context, accountID string) ([]APIKey, error) {
	return c.apiKeys.all(ctx, accountID)
}

// APIKeyShown lists the keys as APIKeys does, once the key is among them: a service may show a new object late.
// It returns nil, without an error, if the key does not appear.
func (c *Client) APIKeyShown(ctx context.Context, accountID, keyID string) ([]APIKey, error) {
	for _, pause := range looksAfterLoss {
		if err := c.clock.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		keys, err := c.APIKeys(ctx, accountID)
		if err != nil {
			return nil, err
		}
		if withID(keys, keyID) != nil {
			return keys, nil
		}
		c.apiKeys.discard()
	}
	return nil, nil
}

// listAPIKeys asks the service, for what must not be answered from a listing made earlier.
func (c *Client) listAPIKeys(ctx context.Context, accountID string) ([]APIKey, error) {
	answer, err := call[apiKeyListing](ctx, c, request{
		op:   operation{name: "listApiKeys", method: http.MethodGet, route: "/api/v0/service-accounts/{serviceAccountId}/api-keys"},
		path: []string{accountID},
	})
	if err != nil {
		return nil, err
	}
	for i := range *answer {
		(*answer)[i].AccountID = accountID
	}
	return *answer, nil
}

// RevokeAPIKey ends a key at once. Revoking a revoked key succeeds.
func (c *Client) RevokeAPIKey(ctx context.Context, accountID, keyID string) error {
	defer c.apiKeys.discard()
	return c.callNoAnswer(ctx, request{
		op:   operation{name: "revokeApiKey", method: http.MethodPost, route: "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/revoke", repeatable: true},
		path: []string{accountID, keyID},
	})
}
