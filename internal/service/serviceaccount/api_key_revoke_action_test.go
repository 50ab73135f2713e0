package serviceaccount_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestAPIKeyRevoke_errors(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	key := newKey(e, account, "k")
	for _, tc := range []struct {
		account, key string
		at           string
		want         []string
	}{
		{"sa_unknown", key.ID, "", []string{"Cannot revoke API key", "404", "Check service_account_id and key_id"}},
		{account, "key_unknown", "", []string{"Cannot revoke API key", "404", "Check service_account_id and key_id"}},
	} {
		_, out := acctest.NewProcess(t, e, nil).Invoke("agentyard_api_key_revoke", acctest.Values{"service_account_id": tc.account, "key_id": tc.key})
		out.MustFail(t, tc.at, tc.want...)
	}
	if !authenticates(e, key.Value) {
		t.Error("the key was revoked")
	}
}
