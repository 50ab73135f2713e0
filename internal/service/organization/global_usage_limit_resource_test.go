package organization_test

import (
	"fmt"
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
	globalAddress = "agentyard_global_usage_limit.test"
)

func globalConfig(limit int64) string {
	return fmt.Sprintf("resource %q \"test\" {\n  limit = %d\n}\n", globalLimitType, limit)
}

// holdsGlobal checks the emulator's global limit. 0 means none.
func holdsGlobal(e *acctest.Env, want int64) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := liveGlobalLimit(e); got != want {
			return fmt.Errorf("the global limit is %d, want %d", got, want)
		}
		return nil
	}
}

func globalHas(limit int64) []statecheck.StateCheck {
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue(globalAddress, tfjsonpath.New("id"), knownvalue.StringExact("organization")),
		statecheck.ExpectKnownValue(globalAddress, tfjsonpath.New("limit"), knownvalue.Int64Exact(limit)),
	}
}

// runGlobal runs steps that must leave no global limit behind.
func runGlobal(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, CheckDestroy: holdsGlobal(e, 0), Steps: steps})
}

func TestAccGlobalUsageLimit_setChangedAndRemovedElsewhere(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	limitElsewhere(e, avery, 7_000_000)
	step := func(before func(), limit int64, action plancheck.ResourceActionType) resource.TestStep {
		return resource.TestStep{
			PreConfig: before, Config: e.Config(globalConfig(limit)), ConfigPlanChecks: acctest.PlannedThenEmpty(globalAddress, action),
			ConfigStateChecks: globalHas(limit), Check: resource.ComposeTestCheckFunc(holdsGlobal(e, limit), holds(e, limits{avery: 7_000_000})),
		}
	}
	runGlobal(t, e,
		step(nil, 1_000_000, plancheck.ResourceActionCreate),
		step(nil, 9_007_199_254_740_991, plancheck.ResourceActionUpdate),
		resource.TestStep{ResourceName: globalAddress, ImportState: true, ImportStateId: "organization", ImportStateVerify: true},
		step(func() { globalLimitElsewhere(e, 5_000_000) }, 2_000_000, plancheck.ResourceActionUpdate),
		step(func() { globalLimitElsewhere(e, nil) }, 2_000_000, plancheck.ResourceActionCreate),
		resource.TestStep{PreConfig: func() { globalLimitElsewhere(e, nil) }, Config: e.Config(globalConfig(2_000_000)), Destroy: true},
	)
	// The limits of users are separate.
	mustHold(t, e, limits{avery: 7_000_000})
}

func TestAccGlobalUsageLimit_unknownAtPlan(t *testing.T) {
	t.Parallel()
	e := limitEnv(t)
	config := func(limit int64) string {
		return e.Config(fmt.Sprintf("resource \"terraform_data\" \"it\" {\n  input = %d\n}\nresource %q \"test\" {\n  limit = terraform_data.it.output\n}\n", limit, globalLimitType))
	}
	runGlobal(t, e,
		resource.TestStep{Config: config(2_000_000), Check: holdsGlobal(e, 2_000_000), ConfigPlanChecks: acctest.ThenEmpty},
		resource.TestStep{Config: config(3_000_000), Check: holdsGlobal(e, 3_000_000), ConfigPlanChecks: acctest.PlannedThenEmpty(globalAddress, plancheck.ResourceActionUpdate)},
	)
}

func TestAccGlobalUsageLimit_settingsUnknownAtPlan(t *testing.T) {
	t.Parallel()
	e := limitEnv(t)
	globalLimitElsewhere(e, 3_000_000)
	runGlobal(t, e, resource.TestStep{Config: e.ConfigWithNewKey(globalConfig(2_000_000)), Check: holdsGlobal(e, 2_000_000), ConfigPlanChecks: acctest.ThenEmpty})
}

// A create warns about a limit that was set outside Terraform, unless it is the same.
func TestGlobalUsageLimit_warnsBeforeItReplacesAnother(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
	i := process().NewInstance(globalLimitType)
	config := acctest.Values{"limit": 2_000_000}
	quiet := func(out acctest.Outcome) {
		t.Helper()
		if len(out.Errors) > 0 || len(out.Warnings) > 0 {
			t.Errorf("%s", out)
		}
	}
	quiet(process().Plan(i, config))
	globalLimitElsewhere(e, 2_000_000)
	quiet(process().Plan(i, config))
	globalLimitElsewhere(e, 5_000_000)
	for _, out := range []acctest.Outcome{process().Plan(i, config), process().Apply(i, config)} {
		said(t, out, "Limit Will Be Replaced: The organization already has a global limit of 5000000 credits. The apply changes it to 2000000 credits.")
	}
	// A limit in the state needs no warning.
	quiet(process().Apply(i, acctest.Values{"limit": 3_000_000}))
	if got := liveGlobalLimit(e); got != 3_000_000 {
		t.Errorf("the limit is %d", got)
	}
}

// A limit that was removed outside Terraform is removed from the state with a warning, and set again.
func TestGlobalUsageLimit_removedElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
	i, config := process().NewInstance(globalLimitType), acctest.Values{"limit": 2_000_000}
	process().Apply(i, config)
	globalLimitElsewhere(e, nil)
	out := process().Apply(i, config)
	if text := out.WarningText(); len(out.Errors) > 0 || out.Action != acctest.ActionCreate || !strings.Contains(text, "Global Usage Limit Is Not Set: ") || !strings.Contains(text, "sets it again") {
		t.Errorf("%s", out)
	}
	if got := liveGlobalLimit(e); got != 2_000_000 {
		t.Errorf("the limit is %d", got)
	}
}

// A response without the limit is an error and does not mean that there is none.
func TestGlobalUsageLimit_answersThatDoNotTell(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `[]`, `{"limit": "2000000"}`, `null`, `"x"`} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			i, config := acctest.NewProcess(t, e, nil).NewInstance(globalLimitType), acctest.Values{"limit": 2_000_000}
			acctest.NewProcess(t, e, nil).Apply(i, config)
			e.Faults().Add(emulator.Fault{Operation: "getGlobalUsageLimit", Kind: emulator.FaultOtherResponse, Body: body, Times: -1})
			out := acctest.NewProcess(t, e, nil).Plan(i, config)
			if text := out.Text(); !strings.Contains(text, "Cannot read global usage limit") || !strings.Contains(text, "getGlobalUsageLimit") || i.State.IsNull() {
				t.Errorf("%s, and the state is %s", out, i.State)
			}
		})
	}
}

// A plan of an unchanged limit needs one request, and a change needs one more.
func TestGlobalUsageLimit_requests(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := acctest.NewProcess(t, e, nil).NewInstance(globalLimitType)
	for n, step := range []struct {
		limit int
		want  string
	}{
		{2_000_000, "getGlobalUsageLimit setGlobalUsageLimit"},
		{2_000_000, "getGlobalUsageLimit"},
		{3_000_000, "getGlobalUsageLimit setGlobalUsageLimit"},
	} {
		e.Journal().Reset()
		acctest.NewProcess(t, e, nil).Apply(i, acctest.Values{"limit": step.limit}).MustSucceed(t)
		var sent []string
		for _, entry := range e.Journal().Entries() {
			sent = append(sent, entry.Operation)
		}
		if got := strings.Join(sent, " "); got != step.want {
			t.Errorf("step %d: %s, want %s", n, got, step.want)
		}
	}
}
