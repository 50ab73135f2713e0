package serviceaccount_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func revokeAction(account, key string) string {
	return "action \"agentyard_api_key_revoke\" \"it\" {\n  config {\n    service_account_id = \"" + account + "\"\n    key_id             = \"" + key + "\"\n  }\n}\n"
}

// answered returns the status of a request with the key.
func answered(e *acctest.Env, key string) int {
	status, _ := e.TryWithKey(key, http.MethodGet, "/api/v0/computers", nil)
	return status
}

// The variable is null except in an emergency. If the action is invoked without it, the error names the argument.
func TestAccAPIKeyRevoke_nullID(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.NewRealTime(t)
	account := newAccount(e, "ci")
	cli := acctest.NewCLI(t, e, "variable \"leaked\" {\n  type = string\n  default = null\n}\n"+strings.Replace(revokeAction(account, "X"), `"X"`, "var.leaked", 1))
	cli.MustPlanEmpty()
	r := cli.Run("apply", "-invoke=action.agentyard_api_key_revoke.it", "-auto-approve", "-input=false")
	if text := acctest.OneLine(r.Output); r.ExitCode == 0 || !strings.Contains(text, "Missing Value") || !strings.Contains(text, "key_id is null") {
		t.Errorf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	e.WantRequests(t, "revokeApiKey", 0)
}

// revoke invokes the action in a new process.
func revoke(t *testing.T, e *acctest.Env, account, key string) acctest.Outcome {
	t.Helper()
	_, out := acctest.NewProcess(t, e, nil).Invoke("agentyard_api_key_revoke", acctest.Values{"service_account_id": account, "key_id": key})
	return out
}

func TestAPIKeyRevoke_errors(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	key := newKey(e, account, "k")
	for _, tc := range []struct {
		account, key string
		at           string
		want         []string
	}{
		{"", key.ID, "service_account_id", []string{"service_account_id must not be empty"}},
		{account, "", "key_id", []string{"key_id must not be empty"}},
		{"sa_unknown", key.ID, "", []string{"Cannot revoke API key", "404", "Check service_account_id and key_id"}},
		{account, "key_unknown", "", []string{"Cannot revoke API key", "404", "Check service_account_id and key_id"}},
	} {
		revoke(t, e, tc.account, tc.key).MustFail(t, tc.at, tc.want...)
	}
	if answered(e, key.Value) != 200 {
		t.Errorf("the key is answered %d", answered(e, key.Value))
	}
}
