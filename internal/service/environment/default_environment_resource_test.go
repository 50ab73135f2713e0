package environment_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const defaultAddress = "agentyard_default_environment.test"

// liveDefault returns the ID of the emulator's default environment, or an empty string.
func liveDefault(e *acctest.Env) string {
	var answer struct{ DefaultEnvironmentID string }
	e.API(http.MethodGet, "/api/v0/environments", nil, &answer)
	return answer.DefaultEnvironmentID
}

func defaultConfig(id string) string {
	argument := ""
	if id != "" {
		argument = fmt.Sprintf("  environment_id = %q\n", id)
	}
	return "resource \"agentyard_default_environment\" \"test\" {\n" + argument + "}\n"
}

// defaultIs checks the emulator's default environment.
func defaultIs(e *acctest.Env, id string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := liveDefault(e); got != id {
			return fmt.Errorf("the default is %q, want %q", got, id)
		}
		return nil
	}
}

func defaultHas(environment string) []statecheck.StateCheck {
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("id"), knownvalue.StringExact("organization")),
		statecheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("environment_id"), knownvalue.StringExact(environment)),
	}
}

func TestAccDefaultEnvironment_setMovedAndLeft(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a", "b")
	base, a, b := ids[0], ids[1], ids[2]
	mustDefault(t, e, base)
	step := func(id string, action plancheck.ResourceActionType, want string) resource.TestStep {
		return resource.TestStep{
			Config: e.Config(defaultConfig(id)), Check: defaultIs(e, want), ConfigStateChecks: defaultHas(want),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(defaultAddress, action)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             defaultIs(e, base),
		Steps: []resource.TestStep{
			step(a, plancheck.ResourceActionCreate, a),
			step(b, plancheck.ResourceActionUpdate, b),
			// When environment_id is removed from the configuration, the default is kept.
			step("", plancheck.ResourceActionNoop, b),
			step(a, plancheck.ResourceActionUpdate, a),
			{ResourceName: defaultAddress, ImportState: true, ImportStateId: "organization", ImportStateVerify: true},
			{PreConfig: func() { mustDefault(t, e, b) }, Config: e.Config(defaultConfig(a)), Check: defaultIs(e, a), ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(defaultAddress, plancheck.ResourceActionUpdate)}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			}},
			{PreConfig: func() { mustDefault(t, e, "") }, Config: e.Config(defaultConfig(a)), Check: defaultIs(e, a), ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(defaultAddress, plancheck.ResourceActionCreate)}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			}, ConfigStateChecks: defaultHas(a)},
			{PreConfig: func() { mustDefault(t, e, base) }, Config: e.Config(defaultConfig(a)), Destroy: true},
		},
	})
}

// Without environment_id, a default is created only if there is none.
func TestAccDefaultEnvironment_provisioned(t *testing.T) {
	t.Parallel()
	for name, exists := range map[string]bool{"none": false, "one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			requests, found := 1, ""
			if exists {
				found = environmentsReady(e, "base")[0]
				mustDefault(t, e, found)
				requests = 0
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps: []resource.TestStep{{Config: e.Config(defaultConfig("")), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("environment_id"), knownvalue.StringRegexp(regexp.MustCompile("^env_"))),
				}}},
			})
			if n := e.Journal().Count("provisionDefaultEnvironment"); n != requests || len(environmentsOf(e)) != 1 {
				t.Errorf("%d requests, and %d environments", n, len(environmentsOf(e)))
			}
			if got := liveDefault(e); got == "" || exists && got != found {
				t.Errorf("the default is %q after the destruction, was %q", got, found)
			}
		})
	}
}

func TestDefaultEnvironment_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	private := newEnv(e, map[string]any{"name": "mine"})
	ready := environmentsReady(e, "a")[0]
	failBuild(t, e, emulator.BuildFailure{})
	failed := environmentsReady(e, "failed")[0]
	user := userKey(t, e)
	at := "environment_id"
	for _, tc := range []struct {
		id   any
		key  string
		at   string
		want []string
	}{
		{"", "", at, []string{"environment_id must not be empty"}},
		{"env_unknown", "", at, []string{"setDefaultEnvironment", "404", "The environment does not exist"}},
		{private, "", at, []string{"setDefaultEnvironment", "400", `scope "organization"`}},
		{failed, "", at, []string{"setDefaultEnvironment", "409", "has no successful build", "Build it again"}},
		{ready, user, "", []string{"setDefaultEnvironment", "403", "member with the Manager role"}},
		{nil, user, "", []string{"provisionDefaultEnvironment", "403", "member with the Manager role"}},
	} {
		settings := acctest.Values{}
		if tc.key != "" {
			settings["api_key"] = tc.key
		}
		p := acctest.NewProcess(t, e, settings)
		p.Apply(p.NewInstance("agentyard_default_environment"), acctest.Values{"environment_id": tc.id}).MustFail(t, tc.at, tc.want...)
		if got := liveDefault(e); got != "" {
			t.Errorf("%v: the default is %s", tc.id, got)
		}
	}
}

// The service refuses a default that was never built, so the apply waits for the build that runs.
func TestDefaultEnvironment_waitsForTheBuild(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"succeeds": false, "fails": true} {
		for _, updates := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/update=%v", name, updates), func(t *testing.T) {
				t.Parallel()
				e := acctest.New(t, slowBuilds)
				i := e.NewInstance(t, "agentyard_default_environment")
				if updates {
					id := newEnv(e, map[string]any{"name": "base", "scope": "organization"})
					e.Clock.Advance(time.Hour)
					e.MustApply(t, i, acctest.Values{"environment_id": id})
				}
				if fails {
					failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full."})
				}
				id := newEnv(e, map[string]any{"name": "a", "scope": "organization"})
				out := e.Apply(t, i, acctest.Values{"environment_id": id})
				if fails {
					out.MustFail(t, "environment_id", "Environment Failed to Build", "The disk is full.", id)
					return
				}
				if out.MustSucceed(t); liveDefault(e) != id || i.Attribute("environment_id") != id {
					t.Errorf("the default is %s, and the state is %s", liveDefault(e), i.State)
				}
			})
		}
	}
}

// Destroying the resource changes nothing at the service, and a warning says so.
func TestDefaultEnvironment_destroyed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a")
	mustDefault(t, e, ids[0])
	for _, config := range []acctest.Values{{"environment_id": ids[1]}, {}} {
		i := acctest.NewProcess(t, e, nil).NewInstance("agentyard_default_environment")
		acctest.NewProcess(t, e, nil).Apply(i, config).MustSucceed(t)
		e.Journal().Reset()
		mustWarnOnce(t, acctest.NewProcess(t, e, nil).Destroy(i), "Default Environment Only Removed From State", "is not changed by this resource")
		if got := liveDefault(e); got != ids[1] || !i.State.IsNull() || e.Journal().Count("setDefaultEnvironment") > 0 {
			t.Errorf("the default is %q; the state is %s", got, i.State)
		}
	}
}

// defaultHolds checks that the state and the emulator have the same default.
func defaultHolds(t *testing.T, e *acctest.Env, i *acctest.Instance) {
	t.Helper()
	if got, want := i.Attribute("environment_id"), liveDefault(e); got != want || got == "" {
		t.Errorf("the state holds %q, the emulator %q", got, want)
	}
}

func TestDefaultEnvironment_faultMatrix(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: "agentyard_default_environment",
		Setup: func(e *acctest.Env) []acctest.Values {
			ids := environmentsReady(e, "base", "a", "b")
			mustDefault(t, e, ids[0])
			return []acctest.Values{{"environment_id": ids[1]}, {"environment_id": ids[2]}}
		},
		// Nothing is created.
		Live:   func(*acctest.Env) []string { return nil },
		IDs:    func(*acctest.Instance) []string { return nil },
		Verify: defaultHolds,
	}.Run(t)
}

func TestDefaultEnvironment_faultMatrixOfAProvisionedOne(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type:  "agentyard_default_environment",
		Setup: func(*acctest.Env) []acctest.Values { return []acctest.Values{{}} },
		// The created environment stays, but there is only one.
		Live: func(e *acctest.Env) []string {
			if n := len(environmentsOf(e)); n > 1 {
				return []string{fmt.Sprint(n, " environments")}
			}
			return nil
		},
		IDs:    func(*acctest.Instance) []string { return nil },
		Verify: defaultHolds,
	}.Run(t)
}

// A singleton needs one list request in a plan, and one more request in an apply.
func TestDefaultEnvironment_requests(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a")
	mustDefault(t, e, ids[0])
	i := acctest.NewProcess(t, e, nil).NewInstance("agentyard_default_environment")
	for n, want := range []string{"listEnvironments listEnvironments setDefaultEnvironment", "listEnvironments"} {
		e.Journal().Reset()
		acctest.NewProcess(t, e, nil).Apply(i, acctest.Values{"environment_id": ids[1]}).MustSucceed(t)
		var sent []string
		for _, entry := range e.Journal().Entries() {
			sent = append(sent, entry.Operation)
		}
		if got := strings.Join(sent, " "); got != want {
			t.Errorf("step %d: %s, want %s", n, got, want)
		}
	}
}
