package serviceaccount_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const keyAddress = "agentyard_api_key.test"

func keyConfig(account, arguments string) string {
	return fmt.Sprintf("resource \"agentyard_api_key\" \"test\" {\n  service_account_id = %q\n%s\n}\n", account, arguments)
}

func keyAction(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return acctest.PlannedThenEmpty(keyAddress, action)
}

func keyValue(attribute string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(keyAddress, tfjsonpath.New(attribute), check)
}

// newAccountEnv returns an emulator with one service account.
func newAccountEnv(t *testing.T) (*acctest.Env, string) {
	t.Helper()
	e := acctest.New(t)
	return e, newAccount(e, "robots")
}

// runKeys runs steps that must leave no live key behind.
func runKeys(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps:                    steps,
		CheckDestroy: func(*terraform.State) error {
			if left := liveKeys(e); len(left) > 0 {
				return fmt.Errorf("the emulator still holds the live keys %v", left)
			}
			return nil
		},
	})
}

// inState checks that the key in the state authenticates, and that it is the only live key except for a previous key in the
// state.
func inState(e *acctest.Env) resource.TestCheckFunc {
	return func(s *terraform.State) error {
		attributes := s.RootModule().Resources[keyAddress].Primary.Attributes
		if !authenticates(e, attributes["key"]) {
			return fmt.Errorf("the key in the state does not authenticate")
		}
		for _, id := range liveKeys(e) {
			if id != attributes["id"] && id != attributes["previous_key_id"] {
				return fmt.Errorf("the live key %s is not in the state", id)
			}
		}
		return nil
	}
}

func TestAccAPIKey_least(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	null := knownvalue.Null()
	runKeys(t, e, resource.TestStep{
		Config: e.Config(keyConfig(account, `name = "ci"`)),
		ConfigPlanChecks: resource.ConfigPlanChecks{
			// The plan shows that the key never expires, so that a policy can check it.
			PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(keyAddress, plancheck.ResourceActionCreate), plancheck.ExpectKnownValue(keyAddress, tfjsonpath.New("expires_at"), null)},
			PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
		},
		Check: inState(e),
		ConfigStateChecks: []statecheck.StateCheck{
			keyValue("name", knownvalue.StringExact("ci")), keyValue("service_account_id", knownvalue.StringExact(account)),
			keyValue("id", knownvalue.NotNull()), keyValue("key", knownvalue.StringRegexp(regexp.MustCompile(`^fk-`))), keyValue("fingerprint", knownvalue.NotNull()),
			keyValue("created_at", knownvalue.StringExact("2026-03-01T12:00:00Z")), keyValue("is_revoked", knownvalue.Bool(false)),
			keyValue("expires_at", null), keyValue("expires_in", null), keyValue("rotated_at", null), keyValue("next_rotation_at", null),
			keyValue("revoked_at", null), keyValue("previous_key_id", null), keyValue("rotation", null),
			statecheck.ExpectSensitiveValue(keyAddress, tfjsonpath.New("key")),
		},
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
	if !authenticates(e, i.Attribute("key")) {
		t.Errorf("the key in the state does not authenticate: %s", i.State)
	}
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
		{rotation(map[string]any{"before_expiry": "25d", "grace_period_minutes": 5}), "update", 0, "2026-03-31T12:00:00Z", "2026-03-06T12:00:00Z"},
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
