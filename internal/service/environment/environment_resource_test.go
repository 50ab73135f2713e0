package environment_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
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

// noEnvLeft returns a CheckDestroy.
func noEnvLeft(e *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if left := environmentsOf(e); len(left) > 0 {
			return fmt.Errorf("the emulator still holds %+v", left)
		}
		return nil
	}
}

func envAction(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return acctest.PlannedThenEmpty(environmentAddress, action)
}

func envHas(name, want string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(environmentAddress, tfjsonpath.New(name), knownvalue.StringExact(want))
}

func envLacks(name string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(environmentAddress, tfjsonpath.New(name), knownvalue.Null())
}

func envDefault(want bool) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(environmentAddress, tfjsonpath.New("is_default"), knownvalue.Bool(want))
}

// requested checks how many requests of each operation were sent since the previous check.
func requested(e *acctest.Env, want map[string]int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		defer e.Journal().Reset()
		for _, operation := range []string{"createEnvironment", "updateEnvironment", "createEnvironmentBuild", "setDefaultEnvironment", "deleteEnvironment"} {
			if got := e.Journal().Count(operation); got != want[operation] {
				return fmt.Errorf("%d requests of %s, want %d", got, operation, want[operation])
			}
		}
		return nil
	}
}

func runEnv(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, CheckDestroy: noEnvLeft(e), Steps: steps})
}

func TestAccEnvironment_everything(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	cfg := e.Config(envConfig(`
scope                     = "organization"
setup_script              = "apt-get update"
source_id                 = "source-base"
make_organization_default = true
wait_for_build            = true
timeouts {
  create = "20m"
  update = "20m"
  delete = "5m"
}
` + envRepos("app", "make", "tools", "true")))
	state := func(path tfjsonpath.Path, want knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(environmentAddress, path, want)
	}
	at := tfjsonpath.New[string]
	aTime := knownvalue.StringRegexp(regexp.MustCompile(`^2026-03-01T12:\d\d:\d\d(\.\d+)?Z$`))
	runEnv(t, e,
		resource.TestStep{
			Config: cfg, ConfigPlanChecks: envAction(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{
				envHas("name", "dev"), envHas("scope", "organization"), envHas("setup_script", "apt-get update"), envHas("status", "ready"), envDefault(true), envLacks("failure_reason"),
				state(at("repositories").AtSliceIndex(1).AtMapKey("script"), knownvalue.StringExact("true")),
				state(at("active_repositories").AtSliceIndex(1).AtMapKey("url"), knownvalue.StringExact("https://git.example/acme/tools")),
				state(at("source").AtMapKey("provider").AtMapKey("name"), knownvalue.StringExact("Provider A")),
				state(at("active_source").AtMapKey("supports_setup_scripts"), knownvalue.Bool(true)),
				state(at("latest_build").AtMapKey("status"), knownvalue.StringExact("succeeded")),
				state(at("latest_build").AtMapKey("trigger"), knownvalue.StringExact("create")),
				state(at("latest_build").AtMapKey("repositories").AtSliceIndex(0).AtMapKey("name"), knownvalue.StringExact("app")),
				state(at("latest_build").AtMapKey("promoted_at"), aTime), state(at("last_successful_build_at"), aTime), state(at("created_at"), aTime),
				statecheck.CompareValuePairs(environmentAddress, at("latest_build_id"), environmentAddress, at("latest_build").AtMapKey("id"), compare.ValuesSame()),
			},
			Check: requested(e, map[string]int{"createEnvironment": 1, "setDefaultEnvironment": 1}),
		},
		resource.TestStep{
			ResourceName: environmentAddress, ImportState: true, ImportStateVerify: true,
			// make_organization_default acts only once, and timeouts belongs to the provider.
			ImportStateVerifyIgnore: []string{"make_organization_default", "timeouts"},
		},
	)
}

func TestAccEnvironment_eachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	step := func(more string, action plancheck.ResourceActionType, sent map[string]int, checks ...statecheck.StateCheck) resource.TestStep {
		return resource.TestStep{Config: e.Config(envConfig(more)), ConfigPlanChecks: envAction(action), Check: requested(e, sent), ConfigStateChecks: checks}
	}
	script := func(i int, want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(environmentAddress, tfjsonpath.New("active_repositories").AtSliceIndex(i).AtMapKey("script"), knownvalue.StringExact(want))
	}
	const update = plancheck.ResourceActionUpdate
	create, patch, none := map[string]int{"createEnvironment": 1}, map[string]int{"updateEnvironment": 1}, map[string]int{}
	replace := map[string]int{"createEnvironment": 1, "deleteEnvironment": 1}
	two := envRepos("app", "make all", "tools", "true")
	const withSource = "source_id = \"source-repositories\"\n"
	runEnv(t, e,
		step("", plancheck.ResourceActionCreate, create, envHas("scope", "user"), envHas("source_id", "source-base"), envHas("status", "ready"), envLacks("setup_script"), envDefault(false)),
		step("name = \"renamed\"\n", update, patch, envHas("name", "renamed")),
		step("name = \"renamed\"\n"+envRepos("app", "make all"), update, patch, script(0, "make all")),
		step("name = \"renamed\"\n"+two, update, patch, script(1, "true")),
		// The order of repositories is ignored.
		step("name = \"renamed\"\n"+envRepos("tools", "true", "app", "make all"), plancheck.ResourceActionNoop, none, script(1, "true")),
		step("name = \"renamed\"\nsetup_script = \"one\"\n"+two, update, patch, envHas("setup_script", "one")),
		step("name = \"renamed\"\nsetup_script = \"two\"\n"+two, update, patch, envHas("setup_script", "two")),
		step("name = \"renamed\"\n"+two, update, patch, envLacks("setup_script")),
		step("name = \"renamed\"\n"+withSource+two, update, patch, envHas("source_id", "source-repositories"), statecheck.ExpectKnownValue(environmentAddress, tfjsonpath.New("active_source").AtMapKey("id"), knownvalue.StringExact("source-repositories"))),
		// When the attributes are removed from the configuration, the service's values are kept.
		step("name = \"renamed\"\n"+two, plancheck.ResourceActionNoop, none, envHas("source_id", "source-repositories")),
		step("name = \"renamed\"\nscope = \"user\"\n"+two, plancheck.ResourceActionNoop, none),
		step("name = \"renamed\"\nscope = \"organization\"\n"+two, plancheck.ResourceActionReplace, replace, envHas("scope", "organization")),
		step("name = \"renamed\"\n"+two, plancheck.ResourceActionNoop, none, envHas("scope", "organization")),
		// Changes to attributes of the provider send no request.
		step("name = \"renamed\"\nwait_for_build = false\n"+two, update, none, envHas("status", "ready")),
		step("name = \"renamed\"\nwait_for_build = false\ntimeouts {\n  update = \"3m\"\n}\n"+two, update, none),
		step("name = \"renamed\"\nwait_for_build = false\n"+envRepos("app", "make"), update, patch, envHas("status", "building"), script(0, "make all")),
		step("name = \"renamed\"\nwait_for_build = true\n"+envRepos("app", "make"), update, none),
	)
	if got := e.Journal().Count("getEnvironment"); got > 20 {
		t.Errorf("%d single reads", got)
	}
}

// A change to attributes of the provider sends no request except for the refresh.
func TestEnvironment_requestsOfUpdates(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change acctest.Values
		want   []string
	}{
		"wait_for_build":  {acctest.Values{"wait_for_build": false}, nil},
		"timeouts":        {acctest.Values{"timeouts": map[string]any{"create": "1h"}}, nil},
		"no default":      {acctest.Values{"make_organization_default": false}, nil},
		"name":            {acctest.Values{"name": "renamed"}, []string{"updateEnvironment"}},
		"default":         {acctest.Values{"make_organization_default": true}, []string{"setDefaultEnvironment"}},
		"setup_script":    {acctest.Values{"setup_script": "make"}, []string{"updateEnvironment", "getEnvironmentBuildStatuses", "getEnvironment"}},
		"and not waiting": {acctest.Values{"setup_script": "make", "wait_for_build": false}, []string{"updateEnvironment", "getEnvironment"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			config := envValues(acctest.Values{"scope": "organization"})
			p, i := e.Created(t, environmentType, config)
			before := onlyEnv(t, e).LatestBuild.ID
			e.Journal().Reset()
			p.Plan(i, config).MustDo(t, acctest.ActionNone)
			refresh := len(e.Journal().Entries())
			maps.Copy(config, tc.change)
			p.Apply(i, config).MustDo(t, acctest.ActionUpdate)
			var got []string
			for _, entry := range e.Journal().Entries()[2*refresh:] {
				if len(got) == 0 || got[len(got)-1] != entry.Operation {
					got = append(got, entry.Operation)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("asked %v, want %v", got, tc.want)
			}
			if built := onlyEnv(t, e).LatestBuild.ID != before; built != (tc.change["setup_script"] != nil) {
				t.Errorf("built: %v", built)
			}
			p.Plan(i, config).MustDo(t, acctest.ActionNone)
		})
	}
}

// A service account can create its own environments and read the organization's, but not update them.
func TestAccEnvironment_withTheKeyOfAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	var minted struct{ APIKey struct{ Value string } }
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account.ID+"/api-keys", map[string]any{"name": "own"}, &minted)
	theirs := builtEnv(e, map[string]any{"scope": "organization"})
	hidden := builtEnv(e, nil)
	cfg := func(more string) string {
		return strings.Replace(e.Config(envConfig(more)), e.BootstrapKey(), minted.APIKey.Value, 1)
	}
	const forbidden = `403(.|\n)*member\s+with\s+the\s+Manager\s+role`
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, Steps: []resource.TestStep{
		{Config: cfg("name = \"robots\"\nscope = \"organization\""), ExpectError: regexp.MustCompile(`createEnvironment(.|\n)*` + forbidden)},
		{Config: cfg(""), ResourceName: environmentAddress, ImportState: true, ImportStateId: hidden, ExpectError: regexp.MustCompile(`Cannot Import Environment`)},
		{Config: cfg("name = \"robots\"\nscope = \"user\""), ConfigPlanChecks: envAction(plancheck.ResourceActionCreate)},
	}})
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, Steps: []resource.TestStep{
		{Config: cfg(""), ResourceName: environmentAddress, ImportState: true, ImportStateId: theirs, ImportStatePersist: true},
		{Config: cfg("name = \"mine\""), ExpectError: regexp.MustCompile(`updateEnvironment(.|\n)*` + forbidden)},
		{Config: cfg(""), Destroy: true, ExpectError: regexp.MustCompile(`deleteEnvironment(.|\n)*` + forbidden)},
		{Config: e.Config(envConfig("")), Destroy: true},
	}})
}

func TestEnvironment_driftOfEachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := envValues(acctest.Values{"setup_script": "make", "source_id": "source-base"})
	_, i := e.Created(t, environmentType, config)
	for _, change := range []map[string]any{
		{"name": "elsewhere"},
		{"setupScript": nil},
		{"setupScript": "other"},
		{"setupScript": nil, "sourceId": "source-repositories"},
		{"repositories": repositories("app", "make all")},
		{"repositories": repositories("app", "make", "b", "true")},
	} {
		e.Journal().Reset()
		patchEnv(t, e, change)
		e.Clock.Advance(buildTime)
		e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
		// One update outside Terraform, and the one that reverts it.
		if sent := changesSent(e); sent != "updateEnvironment updateEnvironment" {
			t.Errorf("%v: sent %s", change, sent)
		}
		mustRest(t, e, i, config)
	}
	e.API(http.MethodDelete, environmentsRoute+"/"+i.ID(), nil, nil)
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	e.API(http.MethodDelete, environmentsRoute+"/"+i.ID(), nil, nil)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionNone)
	noneLeft(t, e, i)
}

// A build that was started outside Terraform is not drift, and neither is its success.
func TestEnvironment_buildsElsewhereAreNoDrift(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, envValues(nil))
	rebuilt(t, e, 0)
	e.Apply(t, i, envValues(nil)).MustDo(t, acctest.ActionNone)
	e.Clock.Advance(buildTime)
	mustRest(t, e, i, envValues(nil))
}
