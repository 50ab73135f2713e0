package organization_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	limitAddress     = "agentyard_user_usage_limit.test"
	userLimitsRoute  = "/api/v0/organization/usage/limits/users"
	globalLimitRoute = "/api/v0/organization/usage/limits/global"

	avery = "avery@agentyard.example"
	blake = "blake@agentyard.example"
	casey = "casey@agentyard.example"
)

// limitEnv returns an emulator with members in its organization.
func limitEnv(t *testing.T, members ...string) *acctest.Env {
	t.Helper()
	e := acctest.New(t)
	haveJoined(t, e, members...)
	return e
}

func haveJoined(t *testing.T, e *acctest.Env, emails ...string) {
	t.Helper()
	for _, email := range emails {
		if _, _, err := e.AddHuman(emulator.Human{Email: email}); err != nil {
			t.Fatal(err)
		}
	}
}

// leaves removes a member outside Terraform.
func leaves(e *acctest.Env, email string) {
	e.API(http.MethodDelete, "/api/v0/organization/users?email="+url.QueryEscape(email), nil, nil)
}

// limitElsewhere sets a user's limit outside Terraform. Nil removes it.
func limitElsewhere(e *acctest.Env, email string, limit any) {
	e.API(http.MethodPut, userLimitsRoute, map[string]any{"users": []any{map[string]any{"email": email, "limit": limit}}}, nil)
}

// globalLimitElsewhere is limitElsewhere for the global limit.
func globalLimitElsewhere(e *acctest.Env, limit any) {
	e.API(http.MethodPut, globalLimitRoute, map[string]any{"limit": limit}, nil)
}

// limits contains the users' limits by address.
type limits map[string]int64

// liveLimits returns the users' limits in the emulator.
func liveLimits(e *acctest.Env) limits {
	var answer struct {
		UserLimits []struct {
			Email string
			Limit *int64
		}
	}
	e.API(http.MethodGet, userLimitsRoute, nil, &answer)
	found := limits{}
	for _, u := range answer.UserLimits {
		if u.Limit != nil {
			found[u.Email] = *u.Limit
		}
	}
	return found
}

// liveGlobalLimit returns the global limit in the emulator, or 0 if there is none.
func liveGlobalLimit(e *acctest.Env) int64 {
	var answer struct{ Limit int64 }
	e.API(http.MethodGet, globalLimitRoute, nil, &answer)
	return answer.Limit
}

// holds checks that the emulator has exactly these limits.
func holds(e *acctest.Env, want limits) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := liveLimits(e); !maps.Equal(got, want) {
			return fmt.Errorf("the emulator holds %v, want %v", got, want)
		}
		return nil
	}
}

func mustHold(t *testing.T, e *acctest.Env, want limits) {
	t.Helper()
	if err := holds(e, want)(nil); err != nil {
		t.Error(err)
	}
}

func limitNamed(name, email string, limit int64) string {
	return fmt.Sprintf("resource \"agentyard_user_usage_limit\" %q {\n  email = %q\n  limit = %d\n}\n", name, email, limit)
}

func limitConfig(email string, limit int64) string { return limitNamed("test", email, limit) }

// runLimits runs steps that must leave no user limit behind.
func runLimits(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, CheckDestroy: holds(e, limits{}), Steps: steps})
}

func limitHas(email string, limit int64) []statecheck.StateCheck {
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue(limitAddress, tfjsonpath.New("id"), knownvalue.StringExact(email)),
		statecheck.ExpectKnownValue(limitAddress, tfjsonpath.New("email"), knownvalue.StringExact(email)),
		statecheck.ExpectKnownValue(limitAddress, tfjsonpath.New("limit"), knownvalue.Int64Exact(limit)),
	}
}

func TestAccUserUsageLimit_setChangedAndReplaced(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake)
	step := func(email, inState string, limit int64, action plancheck.ResourceActionType, want limits) resource.TestStep {
		return resource.TestStep{
			Config: e.Config(limitConfig(email, limit)), ConfigPlanChecks: acctest.PlannedThenEmpty(limitAddress, action),
			ConfigStateChecks: limitHas(inState, limit), Check: holds(e, want),
		}
	}
	runLimits(t, e,
		step(avery, avery, 1_000_000, plancheck.ResourceActionCreate, limits{avery: 1_000_000}),
		step(avery, avery, 9_007_199_254_740_991, plancheck.ResourceActionUpdate, limits{avery: 9_007_199_254_740_991}),
		// A different case of the address is not a change, alone or with another change.
		step("Avery@Agentyard.Example", avery, 9_007_199_254_740_991, plancheck.ResourceActionNoop, limits{avery: 9_007_199_254_740_991}),
		step("AVERY@AGENTYARD.EXAMPLE", avery, 2_000_000, plancheck.ResourceActionUpdate, limits{avery: 2_000_000}),
		resource.TestStep{ResourceName: limitAddress, ImportState: true, ImportStateVerify: true},
		// A different address is another user, and keeps its case.
		step("Blake@Agentyard.Example", "Blake@Agentyard.Example", 2_000_000, plancheck.ResourceActionReplace, limits{blake: 2_000_000}),
		resource.TestStep{ResourceName: limitAddress, ImportState: true, ImportStateVerify: true},
		step(avery, avery, 2_000_000, plancheck.ResourceActionReplace, limits{avery: 2_000_000}),
	)
}

// An import with any case finds the limit, and the plan after it is empty.
func TestAccUserUsageLimit_importInAnotherCase(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]string{"command": "", "identity": "import {\n  to = " + limitAddress + "\n  identity = {\n    email = \"AVERY@Agentyard.example\"\n  }\n}\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if block != "" {
				acctest.NeedsIdentity(t)
			}
			e := acctest.NewRealTime(t)
			haveJoined(t, e, avery)
			limitElsewhere(e, avery, 2_000_000)
			e.Journal().Reset()
			cli := acctest.NewCLI(t, e, limitConfig(avery, 2_000_000)+block)
			if block == "" {
				cli.MustRun("import", limitAddress, "AVERY@Agentyard.example")
			} else if out := cli.MustRun("apply", "-auto-approve", "-input=false").Output; !strings.Contains(out, "1 imported, 0 added, 0 changed, 0 destroyed") {
				t.Errorf("the import: %s", out)
			}
			cli.MustPlanEmpty()
			e.WantRequests(t, "setUserUsageLimits", 0)
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			mustHold(t, e, limits{})
		})
	}
}

func TestAccUserUsageLimit_changedAndRemovedElsewhere(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake)
	config := e.Config(limitConfig(avery, 2_000_000))
	after := func(change func(), action plancheck.ResourceActionType) resource.TestStep {
		return resource.TestStep{PreConfig: change, Config: config, ConfigPlanChecks: acctest.PlannedThenEmpty(limitAddress, action), Check: holds(e, limits{avery: 2_000_000}), ConfigStateChecks: limitHas(avery, 2_000_000)}
	}
	runLimits(t, e,
		after(func() {}, plancheck.ResourceActionCreate),
		after(func() { limitElsewhere(e, avery, 5_000_000) }, plancheck.ResourceActionUpdate),
		after(func() { limitElsewhere(e, avery, nil) }, plancheck.ResourceActionCreate),
		resource.TestStep{PreConfig: func() { leaves(e, avery) }, Config: config, ExpectError: regexp.MustCompile(`email\s*=\s*"avery@agentyard.example"(.|\n)*no\s+member\s+with\s+this\s+email(.|\n)*active\s+member`)},
		after(func() { haveJoined(t, e, avery) }, plancheck.ResourceActionCreate),
		// A different case in the service's response is not a change.
		resource.TestStep{
			PreConfig: func() {
				leaves(e, avery)
				haveJoined(t, e, "Avery@AGENTYARD.example")
				limitElsewhere(e, avery, 2_000_000)
			},
			Config: config, ConfigPlanChecks: acctest.PlannedThenEmpty(limitAddress, plancheck.ResourceActionNoop), ConfigStateChecks: limitHas(avery, 2_000_000),
		},
	)
}

// unknownLimit returns a configuration whose values are known only during the apply.
func unknownLimit(email string, limit int64) string {
	return fmt.Sprintf("resource \"terraform_data\" \"email\" {\n  input = %q\n}\nresource \"terraform_data\" \"limit\" {\n  input = %d\n}\n", email, limit) +
		"resource \"agentyard_user_usage_limit\" \"test\" {\n  email = terraform_data.email.output\n  limit = terraform_data.limit.output\n}\n"
}

func TestAccUserUsageLimit_unknownAtPlan(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake)
	step := func(email, inState string, limit int64, want limits, checks ...plancheck.PlanCheck) resource.TestStep {
		return resource.TestStep{
			Config: e.Config(unknownLimit(email, limit)), Check: holds(e, want), ConfigStateChecks: limitHas(inState, limit),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: checks, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		}
	}
	unknown := func(attribute string) plancheck.PlanCheck {
		return plancheck.ExpectUnknownValue(limitAddress, tfjsonpath.New(attribute))
	}
	runLimits(t, e,
		step(avery, avery, 2_000_000, limits{avery: 2_000_000}, unknown("email"), unknown("limit")),
		step(avery, avery, 3_000_000, limits{avery: 3_000_000}, unknown("limit"), plancheck.ExpectKnownValue(limitAddress, tfjsonpath.New("email"), knownvalue.StringExact(avery))),
		step(blake, blake, 3_000_000, limits{blake: 3_000_000}, unknown("email"), plancheck.ExpectResourceAction(limitAddress, plancheck.ResourceActionReplace)),
		// A replacement is planned because the address may differ. During the apply, only the case differs.
		step("BLAKE@agentyard.example", "BLAKE@agentyard.example", 4_000_000, limits{blake: 4_000_000}, unknown("email"), unknown("limit")),
	)
}

func TestAccUserUsageLimit_settingsUnknownAtPlan(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	limitElsewhere(e, avery, 3_000_000)
	runLimits(t, e, resource.TestStep{
		Config: e.ConfigWithNewKey(limitConfig(avery, 2_000_000)), Check: holds(e, limits{avery: 2_000_000}), ConfigPlanChecks: acctest.ThenEmpty,
	})
}
