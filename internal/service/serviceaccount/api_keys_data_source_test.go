package serviceaccount_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// Newest first, with fingerprints but without values.
func TestAPIKeysDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e, "ci")
	newKey(e, newAccount(e, "other"), "not theirs")
	first := newKey(e, account, "first")
	e.Clock.Advance(time.Minute)
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account+"/api-keys", map[string]any{"name": "second", "expiresAt": acctest.Start.Add(time.Hour).UnixMilli()}, nil)
	e.Clock.Advance(time.Minute)
	revokeKey(e, account, first.ID)
	got := e.MustRead(t, nil, "agentyard_api_keys", acctest.Values{"service_account_id": account})["api_keys"].([]any)
	for _, key := range got {
		if key := key.(map[string]any); key["id"] == "" || key["fingerprint"] == "" {
			t.Errorf("listed %v", key)
		} else {
			delete(key, "id")
			delete(key, "fingerprint")
		}
	}
	acctest.Is(t, "the keys", got, []any{
		map[string]any{"name": "second", "created_at": "2026-03-01T12:01:00Z", "expires_at": "2026-03-01T13:00:00Z", "is_revoked": false, "revoked_at": nil},
		map[string]any{"name": "first", "created_at": "2026-03-01T12:00:00Z", "expires_at": nil, "is_revoked": true, "revoked_at": "2026-03-01T12:02:00Z"},
	})
}
