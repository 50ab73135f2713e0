package serviceaccount_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
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

// Every change of the expiry rotates the key in place.
func TestAccAPIKey_changesInPlace(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	newID, sameID := statecheck.CompareValue(compare.ValuesDiffer()), statecheck.CompareValue(compare.ValuesSame())
	var before int
	step := func(arguments string, replaced bool, checks ...statecheck.StateCheck) resource.TestStep {
		id := newID.AddStateValue(keyAddress, tfjsonpath.New("id"))
		want := 1
		if !replaced {
			id, want = sameID.AddStateValue(keyAddress, tfjsonpath.New("id")), 0
		}
		return resource.TestStep{
			PreConfig:         func() { before = e.Journal().Count("rotateApiKey") },
			Config:            e.Config(keyConfig(account, "name = \"ci\"\n"+arguments)),
			ConfigPlanChecks:  keyAction(plancheck.ResourceActionUpdate),
			ConfigStateChecks: append(checks, id),
			Check: resource.ComposeTestCheckFunc(inState(e), func(*terraform.State) error {
				if got := e.Journal().Count("rotateApiKey") - before; got != want {
					return fmt.Errorf("%d rotations, want %d", got, want)
				}
				return nil
			}),
		}
	}
	expiry := func(at string) statecheck.StateCheck { return keyValue("expires_at", knownvalue.StringExact(at)) }
	create := step("", true)
	create.ConfigPlanChecks, create.Check = keyAction(plancheck.ResourceActionCreate), inState(e)
	runKeys(t, e,
		create,
		step(`expires_in = "30d"`, true, expiry("2026-03-31T12:00:00Z"), keyValue("rotated_at", knownvalue.NotNull())),
		step(`expires_in = "40d"`, true, expiry("2026-04-10T12:00:00Z")),
		step(``, true, keyValue("expires_at", knownvalue.Null())),
		step(`expires_at = "2026-06-01T02:00:00+02:00"`, true, expiry("2026-06-01T02:00:00+02:00")),
		step(`expires_at = "2026-07-01T00:00:00Z"`, true, expiry("2026-07-01T00:00:00Z")),
		step(``, true, keyValue("expires_at", knownvalue.Null())),
		step(`rotation = { triggers = { v = "1" } }`, true),
		step(`rotation = { triggers = { v = "2" } }`, true),
	)
}

func TestAccAPIKey_argumentsOfTheProviderSendNothing(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	id := statecheck.CompareValue(compare.ValuesSame())
	step := func(arguments string, next knownvalue.Check) resource.TestStep {
		return resource.TestStep{
			Config:           e.Config(keyConfig(account, "name = \"ci\"\nexpires_in = \"30d\"\n"+arguments)),
			ConfigPlanChecks: keyAction(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{
				keyValue("next_rotation_at", next), id.AddStateValue(keyAddress, tfjsonpath.New("id")),
			},
		}
	}
	create := step("", knownvalue.Null())
	create.ConfigPlanChecks = keyAction(plancheck.ResourceActionCreate)
	runKeys(t, e,
		create,
		step(`rotation = { interval = "10d" }`, knownvalue.StringExact("2026-03-11T12:00:00Z")),
		step(`rotation = { interval = "240h" }`, knownvalue.StringExact("2026-03-11T12:00:00Z")),
		step(`rotation = { interval = "10d", before_expiry = "25d" }`, knownvalue.StringExact("2026-03-06T12:00:00Z")),
		step(`rotation = { before_expiry = "25d", grace_period_minutes = 5 }`, knownvalue.StringExact("2026-03-06T12:00:00Z")),
		step(``, knownvalue.Null()),
		resource.TestStep{
			PreConfig: func() {
				if n := e.Journal().Count("rotateApiKey") + e.Journal().Count("revokeApiKey"); n != 0 || e.Journal().Count("createApiKey") != 1 {
					t.Errorf("%d rotations and revocations, %d creations", n, e.Journal().Count("createApiKey"))
				}
			},
			Config: e.Config(keyConfig(account, `name = "ci"`)), PlanOnly: true, ExpectNonEmptyPlan: true,
		},
	)
}

func TestAccAPIKey_nameAndAccountReplace(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	other := newAccount(e, "others")
	runKeys(t, e,
		resource.TestStep{Config: e.Config(keyConfig(account, `name = "ci"`))},
		resource.TestStep{Config: e.Config(keyConfig(account, `name = "deploy"`)), ConfigPlanChecks: keyAction(plancheck.ResourceActionReplace), Check: inState(e)},
		resource.TestStep{Config: e.Config(keyConfig(other, `name = "deploy"`)), ConfigPlanChecks: keyAction(plancheck.ResourceActionReplace), Check: inState(e)},
	)
}

func deleteAccount(e *acctest.Env, account string) {
	e.API(http.MethodDelete, "/api/v0/service-accounts/"+account, nil, nil)
}

func TestAccAPIKey_accountDeletedElsewhereRemovesTheKey(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	runKeys(t, e,
		resource.TestStep{Config: e.Config(keyConfig(account, `name = "ci"`))},
		resource.TestStep{
			PreConfig:          func() { deleteAccount(e, account) },
			Config:             e.Config(keyConfig(account, `name = "ci"`)),
			PlanOnly:           true,
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			Config:      e.Config(keyConfig(account, `name = "ci"`)),
			ExpectError: regexp.MustCompile(`(?s)Cannot create API key.*404.*No\s+service\s+account\s+with\s+the\s+ID`),
		},
	)
}
