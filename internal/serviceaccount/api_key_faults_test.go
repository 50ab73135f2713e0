package serviceaccount_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// keyJSON is what the tests look at in a listing of keys.
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

// liveKeys returns the IDs of the keys that authenticate, of all accounts. A key in its grace period is one of them.
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

// authenticates reports whether a key's value is accepted: a service account may list its own computers.
func authenticates(e *acctest.Env, value string) bool {
	status, _ := e.TryWithKey(value, http.MethodGet, "/api/v0/computers", nil)
	return status == http.StatusOK
}

// keyMatrix is the matrix of the resource. Every configuration gets the account's ID.
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
		// A value that was lost with a killed process is of no use, so the error's other remedy is taken. A rotation may stop only
		// while the old key lives out its grace period, before whose end nothing proves whose the new one is.
		Adopt: func(t *testing.T, e *acctest.Env, _ *acctest.Process, i *acctest.Instance, text, id string) {
			t.Helper()
			account := listAccounts(e)[0].ID
			for _, k := range listKeys(e, account) {
				if k.ID == id && k.Name == i.Attribute("name") && !strings.Contains(text, "Apply again after the grace period of the old key") {
					t.Fatalf("a rotation must converge without help: %s", text)
				}
			}
			if !strings.Contains(text, id) || !strings.Contains(text, "agentyard_api_key_revoke") {
				t.Fatalf("the error lacks a remedy: %s", text)
			}
			revokeKey(e, account, id)
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
		acctest.Values{"name": "ci", "expires_in": "30d", "rotation": map[string]any{"triggers": triggers("3"), "grace_period_minutes": 5}},
	).Run(t)
}
