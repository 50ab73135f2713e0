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

// builtBy is how long an environment of the emulator takes to be ready, at most.
const builtBy = time.Minute

// environmentMade makes an environment behind Terraform's back, and returns its ID.
func environmentMade(e *acctest.Env, scope, name string) string {
	var made struct{ ID string }
	e.API(http.MethodPost, "/api/v0/environments", map[string]any{
		"name": name, "scope": scope, "repositories": []any{map[string]any{"url": "https://git.example/acme/app", "script": "make"}},
	}, &made)
	return made.ID
}

// environmentsReady makes environments of the organization whose builds have succeeded.
func environmentsReady(e *acctest.Env, names ...string) []string {
	var ids []string
	for _, name := range names {
		ids = append(ids, environmentMade(e, "organization", name))
	}
	letBuild(e)
	return ids
}

// letBuild moves the emulator's time to where every build has ended.
func letBuild(e *acctest.Env) {
	e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": builtBy.String()}, nil)
}

// liveDefault is the ID of the emulator's default environment, or empty.
func liveDefault(e *acctest.Env) string {
	var answer struct{ DefaultEnvironmentID string }
	e.API(http.MethodGet, "/api/v0/environments", nil, &answer)
	return answer.DefaultEnvironmentID
}

func environmentCount(e *acctest.Env) int {
	var answer struct{ Environments []any }
	e.API(http.MethodGet, "/api/v0/environments", nil, &answer)
	return len(answer.Environments)
}

// mustDefault changes the default behind Terraform's back; empty leaves none.
func mustDefault(t *testing.T, e *acctest.Env, id string) {
	t.Helper()
	if err := e.SetDefaultEnvironment(id); err != nil {
		t.Fatal(err)
	}
}

func defaultConfig(id string) string {
	argument := ""
	if id != "" {
		argument = fmt.Sprintf("  environment_id = %q\n", id)
	}
	return "resource \"agentyard_default_environment\" \"test\" {\n" + argument + "}\n"
}

// isDefault checks what the emulator holds.
func isDefault(e *acctest.Env, id string) resource.TestCheckFunc {
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
			Config: e.Config(defaultConfig(id)), Check: isDefault(e, want), ConfigStateChecks: defaultHas(want),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(defaultAddress, action)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             isDefault(e, base),
		Steps: []resource.TestStep{
			step(a, plancheck.ResourceActionCreate, a),
			step(b, plancheck.ResourceActionUpdate, b),
			// Removed from the configuration, it keeps what is there.
			step("", plancheck.ResourceActionNoop, b),
			step(a, plancheck.ResourceActionUpdate, a),
			{ResourceName: defaultAddress, ImportState: true, ImportStateId: "organization", ImportStateVerify: true},
			{PreConfig: func() { mustDefault(t, e, b) }, Config: e.Config(defaultConfig(a)), Check: isDefault(e, a), ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(defaultAddress, plancheck.ResourceActionUpdate)}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			}},
			{PreConfig: func() { mustDefault(t, e, "") }, Config: e.Config(defaultConfig(a)), Check: isDefault(e, a), ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(defaultAddress, plancheck.ResourceActionCreate)}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			}, ConfigStateChecks: defaultHas(a)},
			{PreConfig: func() { mustDefault(t, e, base) }, Config: e.Config(defaultConfig(a)), Destroy: true},
		},
	})
}

// Without environment_id a default is made only where there is none.
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
			if n := e.Journal().Count("provisionDefaultEnvironment"); n != requests || environmentCount(e) != 1 {
				t.Errorf("%d requests, and %d environments", n, environmentCount(e))
			}
			if got := liveDefault(e); got == "" || exists && got != found {
				t.Errorf("the default is %q after the destruction, was %q", got, found)
			}
		})
	}
}

// What the configuration refers to may be made in the same apply.
func TestAccDefaultEnvironment_unknownAtPlan(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a", "b")
	mustDefault(t, e, ids[0])
	config := func(id string) string {
		return e.Config(fmt.Sprintf("resource \"terraform_data\" \"it\" {\n  input = %q\n}\nresource \"agentyard_default_environment\" \"test\" {\n  environment_id = terraform_data.it.output\n}\n", id))
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             isDefault(e, ids[2]),
		Steps: []resource.TestStep{
			{Config: config(ids[1]), Check: isDefault(e, ids[1]), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: defaultHas(ids[1])},
			{Config: config(ids[2]), Check: isDefault(e, ids[2]), ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(defaultAddress, plancheck.ResourceActionUpdate),
					plancheck.ExpectUnknownValue(defaultAddress, tfjsonpath.New("environment_id")),
				},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			}},
		},
	})
}

func TestAccDefaultEnvironment_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	private := environmentMade(e, "user", "mine")
	ready := environmentsReady(e, "a")[0]
	building := environmentMade(e, "organization", "building")
	_, user, err := e.AddHuman(emulator.Human{Email: "user@acme.example"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ id, key, want string }{
		"empty":       {`""`, "", `environment_id\s+must\s+not\s+be\s+empty`},
		"unknown":     {`"env_unknown"`, "", `environment_id\s*=\s*"env_unknown"(.|\n)*setDefaultEnvironment(.|\n)*404(.|\n)*The\s+environment\s+does\s+not\s+exist`},
		"user scope":  {`"` + private + `"`, "", `environment_id\s*=(.|\n)*setDefaultEnvironment(.|\n)*400(.|\n)*scope\s+.organization.`},
		"never built": {`"` + building + `"`, "", `environment_id\s*=(.|\n)*setDefaultEnvironment(.|\n)*409(.|\n)*has\s+no\s+successful\s+build\s+yet(.|\n)*wait_for_build`},
		"no manager":  {`"` + ready + `"`, user, `setDefaultEnvironment(.|\n)*403(.|\n)*human\s+with\s+the\s+Manager\s+role`},
		"provisioned": {`null`, user, `provisionDefaultEnvironment(.|\n)*403(.|\n)*human\s+with\s+the\s+Manager\s+role`},
	} {
		t.Run(name, func(t *testing.T) {
			hcl := "resource \"agentyard_default_environment\" \"test\" {\n  environment_id = " + tc.id + "\n}\n"
			config := e.Config(hcl)
			if tc.key != "" {
				config = strings.Replace(config, e.BootstrapKey(), tc.key, 1)
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: config, ExpectError: regexp.MustCompile(tc.want)}},
			})
			if got := liveDefault(e); got != "" {
				t.Errorf("the default is %s", got)
			}
		})
	}
}

// warned is what the warnings of an outcome say, in one line.
func warned(out acctest.Outcome) string {
	var all []string
	for _, w := range out.Warnings {
		all = append(all, w.Summary+": "+w.Detail)
	}
	return strings.Join(all, "\n")
}

// defaultSaid fails the test unless the warnings contain the parts; without parts there must be none.
func defaultSaid(t *testing.T, out acctest.Outcome, parts ...string) {
	t.Helper()
	if len(out.Errors) > 0 || len(parts) == 0 && len(out.Warnings) > 0 || len(parts) > 0 && len(out.Warnings) != 1 {
		t.Errorf("errors %s, warnings %s", out.Text(), warned(out))
	}
	for _, part := range parts {
		if !strings.Contains(warned(out), part) {
			t.Errorf("the warning lacks %q: %s", part, warned(out))
		}
	}
}

// Creating the resource warns if it replaces another default. Terraform itself shows every later change.
func TestDefaultEnvironment_warnsBeforeItReplacesADefault(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a", "b")
	base, a, b := ids[0], ids[1], ids[2]
	on := func(id string) acctest.Values { return acctest.Values{"environment_id": id} }
	process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
	i := process().NewInstance("agentyard_default_environment")

	defaultSaid(t, process().Plan(i, on(a)))
	mustDefault(t, e, a)
	defaultSaid(t, process().Plan(i, on(a)))
	mustDefault(t, e, base)
	defaultSaid(t, process().Plan(i, acctest.Values{}))
	defaultSaid(t, process().Apply(i, on(a)), "Default Environment Will Be Replaced", `is "base" (`+base+")", `changes it to "a" (`+a+")")
	defaultSaid(t, process().Plan(i, on(a)))
	defaultSaid(t, process().Apply(i, on(b)))
	mustDefault(t, e, a)
	if out := process().Apply(i, on(b)); out.Action != "update" || len(out.Warnings) > 0 || liveDefault(e) != b {
		t.Errorf("%s, and the default is %s", out, liveDefault(e))
	}
}

// Destroying the resource changes nothing at the service, and says so.
func TestDefaultEnvironment_destroyed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a")
	mustDefault(t, e, ids[0])
	for _, config := range []acctest.Values{{"environment_id": ids[1]}, {}} {
		i := acctest.NewProcess(t, e, nil).NewInstance("agentyard_default_environment")
		if out := acctest.NewProcess(t, e, nil).Apply(i, config); len(out.Errors) > 0 {
			t.Fatal(out)
		}
		e.Journal().Reset()
		defaultSaid(t, acctest.NewProcess(t, e, nil).Destroy(i), "Default Environment Left Unchanged", "was not changed")
		if got := liveDefault(e); got != ids[1] || !i.State.IsNull() || e.Journal().Count("setDefaultEnvironment") > 0 {
			t.Errorf("the default is %q; the state is %s", got, i.State)
		}
	}
}

// defaultHolds looks whether state and emulator have the same default.
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
		// Nothing is made.
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
		// The environment that was made stays, but there is only one.
		Live: func(e *acctest.Env) []string {
			if n := environmentCount(e); n > 1 {
				return []string{fmt.Sprint(n, " environments")}
			}
			return nil
		},
		IDs:    func(*acctest.Instance) []string { return nil },
		Verify: defaultHolds,
	}.Run(t)
}

func TestAccDefaultEnvironment_faultsThroughTheCLI(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{
		"dropped after commit": {Kind: emulator.FaultDropAfterCommit},
		"500 always":           {Kind: emulator.FaultStatusAfterCommit, Status: 500, Times: -1},
		"truncated":            {Kind: emulator.FaultTruncatedBody},
		"rate limited":         {Kind: emulator.FaultRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			ids := environmentsReady(e, "base", "a", "b")
			mustDefault(t, e, ids[0])
			fault.Operation = "setDefaultEnvironment"
			inject := func() { e.Faults().Clear(); e.Faults().Add(fault) }
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				CheckDestroy:             isDefault(e, ids[2]),
				Steps: []resource.TestStep{
					{PreConfig: inject, Config: e.Config(defaultConfig(ids[1])), Check: isDefault(e, ids[1]), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: defaultHas(ids[1])},
					{PreConfig: inject, Config: e.Config(defaultConfig(ids[2])), Check: isDefault(e, ids[2]), ConfigPlanChecks: acctest.ThenEmpty},
				},
			})
		})
	}
}

// The plan that a person reads has the warnings, as has a destruction.
func TestAccDefaultEnvironment_warningsThroughTheCLI(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	ids := environmentsReady(e, "a", "base")
	a, base := ids[0], ids[1]
	mustDefault(t, e, base)
	cli := acctest.NewCLI(t, e, defaultConfig(a))
	for _, command := range []string{"plan", "apply"} {
		args := []string{command, "-input=false"}
		if command == "apply" {
			args = append(args, "-auto-approve")
		}
		if text := oneLine(cli.MustRun(args...).Output); !strings.Contains(text, `The organization's default environment is "base" (`+base+`).`) {
			t.Errorf("%s: %s", command, text)
		}
	}
	cli.MustPlanEmpty()
	if text := oneLine(cli.MustRun("destroy", "-auto-approve", "-input=false").Output); !strings.Contains(text, "Default Environment Left Unchanged") {
		t.Errorf("destroy: %s", text)
	}
}

// oneLine is the output of a CLI without frames and line breaks.
func oneLine(output string) string {
	return regexp.MustCompile(`[\s│╷╵]+`).ReplaceAllString(output, " ")
}

// Whether the answer comes or is lost, an interruption does not lose what was done.
func TestDefaultEnvironment_interrupted(t *testing.T) {
	t.Parallel()
	for name, stopped := range map[string]func(hit func()) acctest.Option{
		"answered": func(hit func()) acctest.Option {
			return acctest.Hold("setDefaultEnvironment", func(<-chan struct{}) { hit() })
		},
		"lost": func(hit func()) acctest.Option { return acctest.Intercept("setDefaultEnvironment", true, hit) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var process *acctest.Process
			e := acctest.New(t, stopped(func() { process.Stop() }))
			ids := environmentsReady(e, "base", "a")
			mustDefault(t, e, ids[0])
			process = acctest.NewProcess(t, e, nil)
			i := process.NewInstance("agentyard_default_environment")
			out := process.Apply(i, acctest.Values{"environment_id": ids[1]})
			if i.Attribute("environment_id") != ids[1] || i.Tainted || liveDefault(e) != ids[1] {
				t.Errorf("%s: the state is %s, the default %s", out, i.State, liveDefault(e))
			}
		})
	}
}

// A singleton costs one listing in a plan, and one request more in an apply.
func TestDefaultEnvironment_requests(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a")
	mustDefault(t, e, ids[0])
	i := acctest.NewProcess(t, e, nil).NewInstance("agentyard_default_environment")
	for n, want := range []string{"listEnvironments listEnvironments setDefaultEnvironment", "listEnvironments"} {
		e.Journal().Reset()
		if out := acctest.NewProcess(t, e, nil).Apply(i, acctest.Values{"environment_id": ids[1]}); len(out.Errors) > 0 {
			t.Fatal(out)
		}
		var sent []string
		for _, entry := range e.Journal().Entries() {
			sent = append(sent, entry.Operation)
		}
		if got := strings.Join(sent, " "); got != want {
			t.Errorf("step %d: %s, want %s", n, got, want)
		}
	}
}

// A plan of a creation tells that the key is refused, and says nothing more where settings are not known yet.
func TestDefaultEnvironment_refusedKey(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	process := acctest.NewProcess(t, e, acctest.Values{"api_key": "wrong"})
	out := process.Plan(process.NewInstance("agentyard_default_environment"), acctest.Values{})
	if !strings.Contains(out.Text(), "Cannot plan default environment") || !strings.Contains(out.Text(), "401") {
		t.Errorf("the errors: %s", out.Text())
	}
}

func TestAccDefaultEnvironment_settingsUnknownAtPlan(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	a := environmentsReady(e, "a")[0]
	config := fmt.Sprintf("resource \"terraform_data\" \"key\" {\n  input = %q\n}\nprovider \"agentyard\" {\n  base_url = %q\n  api_key  = terraform_data.key.output\n}\n", e.BootstrapKey(), e.URL())
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps:                    []resource.TestStep{{Config: config + defaultConfig(a), Check: isDefault(e, a), ConfigPlanChecks: acctest.ThenEmpty}},
	})
}
