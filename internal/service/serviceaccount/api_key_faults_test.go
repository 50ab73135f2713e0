package serviceaccount_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// keyJSON contains the fields of a key that the tests check in a list response.
type keyJSON struct {
	ID, Name, Fingerprint string
	IsRevoked             bool
	CreatedAt             int64
	ExpiresAt, RevokedAt  *int64
}

func listKeys(e *acctest.Env, account string) []keyJSON {
	var answer struct{ APIKeys []keyJSON }
	e.API(http.MethodGet, "/api/v0/service-accounts/"+account+"/api-keys", nil, &answer)
	return answer.APIKeys
}

// liveKeys returns the IDs of the keys of all accounts that authenticate, including keys in their grace period.
func liveKeys(e *acctest.Env) []string {
	var live []string
	now := e.Now().UnixMilli()
	for _, a := range listAccounts(e) {
		for _, k := range listKeys(e, a.ID) {
			if !k.IsRevoked && (k.ExpiresAt == nil || *k.ExpiresAt > now) {
				live = append(live, k.ID)
			}
		}
	}
	return live
}

// authenticates reports whether a key's value is accepted. It lists computers, because a service account may list its own.
func authenticates(e *acctest.Env, value string) bool {
	status, _ := e.TryWithKey(value, http.MethodGet, "/api/v0/computers", nil)
	return status == http.StatusOK
}

// keyMatrix returns the resource's fault matrix. Every configuration gets the account's ID.
func keyMatrix(configs ...acctest.Values) acctest.Matrix {
	return acctest.Matrix{
		Type: "agentyard_api_key",
		Setup: func(e *acctest.Env) []acctest.Values {
			account := newAccount(e, "robots")
			var all []acctest.Values
			for _, c := range configs {
				config := acctest.Values{"service_account_id": account}
				for name, v := range c {
					config[name] = v
				}
				all = append(all, config)
			}
			return all
		},
		Live: liveKeys,
		IDs: func(i *acctest.Instance) []string {
			var ids []string
			for _, name := range []string{"id", "previous_key_id"} {
				if id := i.Attribute(name); id != "" {
					ids = append(ids, id)
				}
			}
			return ids
		},
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			t.Helper()
			if !authenticates(e, i.Attribute("key")) {
				t.Errorf("the key in the state does not authenticate: %s", i.Attribute("id"))
			}
		},
		// A value that was lost with a killed process cannot be recovered, so the test uses the error's other remedy. A key in its
		// grace period cannot be rotated again.
		Adopt: func(t *testing.T, e *acctest.Env, _ *acctest.Process, _ *acctest.Instance, text, id string) {
			t.Helper()
			check.Says(t, text, id, "agentyard_api_key_revoke")
			revokeKey(e, listAccounts(e)[0].ID, id)
			e.Clock.Advance(10 * time.Minute)
		},
	}
}

func triggers(v string) map[string]any { return map[string]any{"v": v} }

func TestAPIKey_faultMatrix(t *testing.T) {
	t.Parallel()
	keyMatrix(
		acctest.Values{"name": "ci", "rotation": map[string]any{"triggers": triggers("1")}},
		acctest.Values{"name": "ci", "rotation": map[string]any{"triggers": triggers("2")}},
		acctest.Values{"name": "ci", "rotation": map[string]any{"triggers": triggers("3")}, "expires_in": "30d"},
		acctest.Values{"name": "deploy", "expires_in": "30d"},
	).Run(t)
}

func TestAPIKey_faultMatrixWithGrace(t *testing.T) {
	t.Parallel()
	keyMatrix(
		acctest.Values{"name": "ci", "expires_in": "30d", "rotation": map[string]any{"triggers": triggers("1"), "grace_period_minutes": 10}},
		acctest.Values{"name": "ci", "expires_in": "30d", "rotation": map[string]any{"triggers": triggers("2"), "grace_period_minutes": 10}},
	).Run(t)
}
