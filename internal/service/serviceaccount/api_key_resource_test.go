package serviceaccount_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// newAccountEnv returns an emulator with one service account.
func newAccountEnv(t *testing.T) (*acctest.Env, string) {
	t.Helper()
	e := acctest.New(t)
	return e, newAccount(e, "robots")
}

// keyConfig is a configuration for tests that run a CLI.
func keyConfig(account, arguments string) string {
	return fmt.Sprintf("resource \"agentyard_api_key\" \"test\" {\n  service_account_id = %q\n%s\n}\n", account, arguments)
}

// The plan shows that the key never expires, so that a policy can check it.
func TestAPIKey_least(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	i := e.NewInstance(t, keyType)
	if planned := acctest.Plain(t, e.Plan(t, i, keyOf(account, nil)).Planned).(map[string]any); planned["expires_at"] != nil {
		t.Errorf("the expiry is planned as %v", planned["expires_at"])
	}
	e.MustApply(t, i, keyOf(account, nil))
	mustWork(t, e, i)
	got := acctest.Plain(t, i.State).(map[string]any)
	for _, name := range []string{"id", "key", "fingerprint"} {
		if text, _ := got[name].(string); text == "" {
			t.Errorf("%s is empty", name)
		}
		delete(got, name)
	}
	check.Is(t, "the state", got, map[string]any{
		"name": "ci", "service_account_id": account, "created_at": "2026-03-01T12:00:00Z", "is_revoked": false, "expires_at": nil, "expires_in": nil, "rotated_at": nil,
		"next_rotation_at": nil, "revoked_at": nil, "previous_key_id": nil, "rotation": nil,
	})
}

// keyOf returns a configuration of the key "ci" with more arguments.
func keyOf(account string, more acctest.Values) acctest.Values {
	config := acctest.Values{"service_account_id": account, "name": "ci"}
	maps.Copy(config, more)
	return config
}

// mustWork fails the test unless the key in the state authenticates, and is the only live key except for a previous key in the state.
func mustWork(t *testing.T, e *acctest.Env, i *acctest.Instance) {
	t.Helper()
	check.Is(t, "the key in the state works", authenticates(e, i.Attribute("key")), true)
	for _, id := range liveKeys(e) {
		if id != i.ID() && id != i.Attribute("previous_key_id") {
			t.Errorf("the live key %s is not in the state", id)
		}
	}
}

// Every change of the expiry or of a trigger rotates the key in place. Other arguments send nothing.
func TestAPIKey_changesInPlace(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	i := e.NewInstance(t, keyType)
	rotation := func(values map[string]any) acctest.Values {
		return acctest.Values{"expires_in": "30d", "rotation": values}
	}
	for n, step := range []struct {
		more                      acctest.Values
		action                    acctest.Action
		rotations                 int
		expiresAt, nextRotationAt string
	}{
		{nil, "create", 0, "", ""},
		{acctest.Values{"expires_in": "40d"}, "update", 1, "2026-04-10T12:00:00Z", ""},
		{nil, "update", 1, "", ""},
		{acctest.Values{"expires_at": "2026-06-01T02:00:00+02:00"}, "update", 1, "2026-06-01T02:00:00+02:00", ""},
		{acctest.Values{"expires_at": "2026-07-01T00:00:00Z"}, "update", 1, "2026-07-01T00:00:00Z", ""},
		{nil, "update", 1, "", ""},
		{acctest.Values{"rotation": map[string]any{"triggers": triggers("1")}}, "update", 1, "", ""},
		{acctest.Values{"rotation": map[string]any{"triggers": triggers("2")}}, "update", 1, "", ""},
		{acctest.Values{"expires_in": "30d"}, "update", 1, "2026-03-31T12:00:00Z", ""},
		{rotation(map[string]any{"interval": "10d"}), "update", 0, "2026-03-31T12:00:00Z", "2026-03-11T12:00:00Z"},
		{rotation(map[string]any{"interval": "240h"}), "update", 0, "2026-03-31T12:00:00Z", "2026-03-11T12:00:00Z"},
		{rotation(map[string]any{"interval": "10d", "before_expiry": "25d"}), "update", 0, "2026-03-31T12:00:00Z", "2026-03-06T12:00:00Z"},
		{rotation(map[string]any{"before_expiry": "5m", "grace_period_minutes": 5}), "update", 0, "2026-03-31T12:00:00Z", "2026-03-31T11:55:00Z"},
		{acctest.Values{"expires_in": "30d"}, "update", 0, "2026-03-31T12:00:00Z", ""},
		{acctest.Values{"name": "deploy", "expires_in": "30d"}, "replace", 0, "2026-03-31T12:00:00Z", ""},
		{acctest.Values{"service_account_id": newAccount(e, "others")}, "replace", 0, "", ""},
	} {
		before, id := e.Journal().Count("rotateApiKey"), i.ID()
		e.Apply(t, i, keyOf(account, step.more)).MustDo(t, step.action)
		if got := e.Journal().Count("rotateApiKey") - before; got != step.rotations || (i.ID() == id) != (step.action == "update" && step.rotations == 0) {
			t.Errorf("step %d: %d rotations, want %d; the key is %s, was %s", n, got, step.rotations, i.ID(), id)
		}
		if i.Attribute("expires_at") != step.expiresAt || i.Attribute("next_rotation_at") != step.nextRotationAt {
			t.Errorf("step %d: %s", n, i.State)
		}
		mustWork(t, e, i)
		e.Plan(t, i, keyOf(account, step.more)).MustDo(t, acctest.ActionNone)
	}
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	noLiveKey(t, e)
}

func deleteAccount(e *acctest.Env, account string) {
	e.API(http.MethodDelete, "/api/v0/service-accounts/"+account, nil, nil)
}

func TestAPIKey_accountDeletedElsewhereRemovesTheKey(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	_, i := e.Created(t, keyType, keyOf(account, nil))
	deleteAccount(e, account)
	e.Plan(t, i, keyOf(account, nil)).MustDo(t, acctest.ActionCreate)
	e.Apply(t, i, keyOf(account, nil)).MustFail(t, "service_account_id", "Cannot create API key", "404", "No service account with the ID")
}
