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
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

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

func defaultHas(environment string, previous knownvalue.Check) []statecheck.StateCheck {
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("id"), knownvalue.StringExact("organization")),
		statecheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("environment_id"), knownvalue.StringExact(environment)),
		statecheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("previous_environment_id"), previous),
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
			Config: e.Config(defaultConfig(id)), Check: isDefault(e, want), ConfigStateChecks: defaultHas(want, knownvalue.StringExact(base)),
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
			{ResourceName: defaultAddress, ImportState: true, ImportStateId: "organization", ImportStateVerify: true, ImportStateVerifyIgnore: []string{"previous_environment_id"}},
			{PreConfig: func() { mustDefault(t, e, b) }, Config: e.Config(defaultConfig(a)), Check: isDefault(e, a), ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(defaultAddress, plancheck.ResourceActionUpdate)}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			}},
			{PreConfig: func() { mustDefault(t, e, "") }, Config: e.Config(defaultConfig(a)), Check: isDefault(e, a), ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(defaultAddress, plancheck.ResourceActionCreate)}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			}, ConfigStateChecks: defaultHas(a, knownvalue.Null())},
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
			previous := knownvalue.Check(knownvalue.Null())
			if exists {
				found = environmentsReady(e, "base")[0]
				mustDefault(t, e, found)
				requests, previous = 0, knownvalue.StringExact(found)
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps: []resource.TestStep{{Config: e.Config(defaultConfig("")), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("environment_id"), knownvalue.StringRegexp(regexp.MustCompile("^env_"))),
					statecheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("previous_environment_id"), previous),
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

func TestAccDefaultEnvironment_importByIdentity(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	a := environmentsReady(e, "a")[0]
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
		Steps: []resource.TestStep{
			{Config: e.Config(defaultConfig(a)), ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectIdentityValueMatchesState(defaultAddress, tfjsonpath.New("id"))}},
			{ResourceName: defaultAddress, ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity},
		},
	})
}

func TestAccDefaultEnvironment_importErrors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for id, want := range map[string]string{
		"env_01hzy3v7k2m4n6p8q0r2s4t6v8": `Invalid Import ID(.|\n)*import\s+ID\s+is\s+"organization"(.|\n)*agentyard_environment`,
		"organization":                   `Cannot import non-existent remote object`,
	} {
		resource.UnitTest(t, resource.TestCase{
			ProtoV6ProviderFactories: e.Factories,
			Steps: []resource.TestStep{{
				Config: e.Config(defaultConfig("")), ResourceName: defaultAddress, ImportState: true, ImportStateId: id, ExpectError: regexp.MustCompile(want),
			}},
		})
	}
}

func TestAccDefaultEnvironment_importOfAnotherIdentity(t *testing.T) {
	acctest.NeedsIdentity(t)
	t.Parallel()
	e := acctest.NewRealTime(t)
	cli := acctest.NewCLI(t, e, defaultConfig("")+"import {\n  to = "+defaultAddress+"\n  identity = {\n    id = \"acme\"\n  }\n}\n")
	if r := cli.Run("plan", "-input=false"); r.ExitCode == 0 || !strings.Contains(r.Output, "Invalid Import ID") {
		t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
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
		CheckDestroy:             isDefault(e, ids[0]),
		Steps: []resource.TestStep{
			{Config: config(ids[1]), Check: isDefault(e, ids[1]), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: defaultHas(ids[1], knownvalue.StringExact(ids[0]))},
			{Config: config(ids[2]), Check: isDefault(e, ids[2]), ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(defaultAddress, plancheck.ResourceActionUpdate),
					plancheck.ExpectUnknownValue(defaultAddress, tfjsonpath.New("environment_id")),
					plancheck.ExpectKnownValue(defaultAddress, tfjsonpath.New("previous_environment_id"), knownvalue.StringExact(ids[0])),
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
		"unknown":     {`"env_unknown"`, "", `environment_id\s*=\s*"env_unknown"(.|\n)*setDefaultEnvironment(.|\n)*404(.|\n)*No\s+environment\s+has\s+this\s+ID`},
		"user scope":  {`"` + private + `"`, "", `environment_id\s*=(.|\n)*setDefaultEnvironment(.|\n)*400(.|\n)*scope\s+.organization.`},
		"never built": {`"` + building + `"`, "", `environment_id\s*=(.|\n)*setDefaultEnvironment(.|\n)*409(.|\n)*No\s+build\s+of\s+the\s+environment\s+has\s+succeeded(.|\n)*wait_for_build(.|\n)*depends_on`},
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

func TestDefaultEnvironment_warnsBeforeItReplacesSomebodyElses(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a", "b")
	base, a, b := ids[0], ids[1], ids[2]
	on := func(id string) acctest.Values { return acctest.Values{"environment_id": id} }
	process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
	i := process().NewInstance("agentyard_default_environment")

	// Where there is none, and where it is the wanted one, nothing is replaced.
	defaultSaid(t, process().Plan(i, on(a)))
	mustDefault(t, e, a)
	defaultSaid(t, process().Plan(i, on(a)))
	mustDefault(t, e, base)
	defaultSaid(t, process().Plan(i, nil))
	defaultSaid(t, process().Plan(i, acctest.Values{}))

	const replaced = "Default Environment Will Be Replaced"
	defaultSaid(t, process().Apply(i, on(a)), replaced, `"base" (`+base+")", `makes "a" (`+a+")", "for everybody", "again, if it still exists")
	defaultSaid(t, process().Plan(i, on(a)))
	// One's own is replaced without a word.
	defaultSaid(t, process().Apply(i, on(b)))
	if got := liveDefault(e); got != b {
		t.Errorf("the default is %s", got)
	}
	mustDefault(t, e, a)
	defaultSaid(t, process().Plan(i, on(a)))
	out := process().Apply(i, on(b))
	defaultSaid(t, out, replaced, `"a" (`+a+")", `makes "b" (`+b+")", "leave it to one of them")
	if out.Action != "update" || liveDefault(e) != b {
		t.Errorf("%s, and the default is %s", out.Action, liveDefault(e))
	}
	// What nobody configured is somebody else's from the start.
	mustDefault(t, e, base)
	kept := process().NewInstance("agentyard_default_environment")
	defaultSaid(t, process().Apply(kept, acctest.Values{}))
	defaultSaid(t, process().Plan(kept, on(a)), replaced, `"base" (`+base+")")
	// What was imported is one's own.
	imported := process().NewInstance("agentyard_default_environment")
	if out := process().Import(imported, "organization"); len(out.Errors) > 0 {
		t.Fatal(out)
	}
	defaultSaid(t, process().Plan(imported, on(base)))
	defaultSaid(t, process().Plan(imported, on(a)))
}

func TestDefaultEnvironment_destroyed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// before is the default before the creation: base, a or none. then happens between creation and destruction.
		before string
		config bool
		then   func(t *testing.T, e *acctest.Env, base, a, b string)
		after  string
		said   []string
	}{
		"the previous one is restored": {before: "base", config: true, after: "base"},
		"there was none":               {config: true, after: "a", said: []string{"What was the default before is not known, or there was none", `"a" (`, "stays the organization's default"}},
		"the previous one is the same": {before: "a", config: true, after: "a", said: []string{"What was the default before is not known, or there was none", `"a" (`, "stays the organization's default"}},
		"the previous one was kept":    {before: "base", after: "base", said: []string{`"base" (`, "was the default before this resource was created"}},
		"the previous one is gone": {before: "base", config: true, then: func(_ *testing.T, e *acctest.Env, base, _, _ string) {
			e.API(http.MethodDelete, "/api/v0/environments/"+base, nil, nil)
		}, after: "a", said: []string{"does not exist any more", `"a" (`}},
		"somebody else's is the default":        {before: "base", config: true, then: func(t *testing.T, e *acctest.Env, _, _, b string) { mustDefault(t, e, b) }, after: "b", said: []string{"Somebody else has changed the default", `set it to "a" (`, `"b" (`, "stays"}},
		"somebody else has restored it":         {before: "base", config: true, then: func(t *testing.T, e *acctest.Env, base, _, _ string) { mustDefault(t, e, base) }, after: "base", said: []string{`"base" (`, "is the default"}},
		"somebody else's follows one kept":      {before: "base", then: func(t *testing.T, e *acctest.Env, _, _, b string) { mustDefault(t, e, b) }, after: "b", said: []string{"has not set the default that there is"}},
		"it was removed by somebody else":       {before: "base", config: true, then: func(t *testing.T, e *acctest.Env, _, _, _ string) { mustDefault(t, e, "") }, said: []string{"removed by somebody else", "has no default environment now"}},
		"the service refuses the previous one":  {before: "base", config: true, then: func(_ *testing.T, e *acctest.Env, _, _, _ string) { refuseDefault(e, http.StatusConflict) }, after: "a", said: []string{"does not take \"base\"", "409", "stays"}},
		"it goes between the read and the last": {before: "base", config: true, then: func(_ *testing.T, e *acctest.Env, _, _, _ string) { refuseDefault(e, http.StatusNotFound) }, after: "a", said: []string{"does not take \"base\"", "404", "stays"}},
	} {
		for _, refreshed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, refreshed %t", name, refreshed), func(t *testing.T) {
				t.Parallel()
				e := acctest.New(t)
				ids := environmentsReady(e, "base", "a", "b")
				byName := map[string]string{"base": ids[0], "a": ids[1], "b": ids[2], "": ""}
				mustDefault(t, e, byName[tc.before])
				config := acctest.Values{}
				if tc.config {
					config["environment_id"] = byName["a"]
				}
				process := acctest.NewProcess(t, e, nil)
				i := process.NewInstance("agentyard_default_environment")
				if out := process.Apply(i, config); len(out.Errors) > 0 {
					t.Fatal(out)
				}
				if tc.then != nil {
					tc.then(t, e, ids[0], ids[1], ids[2])
				}
				said, process := tc.said, acctest.NewProcess(t, e, nil)
				var out acctest.Outcome
				switch {
				case !refreshed:
					out = process.Destroy(i)
				case tc.after == "":
					out, said = process.Apply(i, nil), []string{"Default Environment Is Not Set"}
				default:
					out = process.Apply(i, nil)
				}
				defaultSaid(t, out, said...)
				if got := liveDefault(e); got != byName[tc.after] || !i.State.IsNull() {
					t.Errorf("the default is %q, want %q; the state is %s", got, byName[tc.after], i.State)
				}
			})
		}
	}
}

// refuseDefault has the service answer the next request for a default with a status.
func refuseDefault(e *acctest.Env, status int) {
	e.Faults().Add(emulator.Fault{Operation: "setDefaultEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: status})
}

// A destruction that may not restore the previous default says which key is needed, and is done by the next one.
func TestDefaultEnvironment_destructionThatIsRefused(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a")
	mustDefault(t, e, ids[0])
	process := acctest.NewProcess(t, e, nil)
	i := process.NewInstance("agentyard_default_environment")
	if out := process.Apply(i, acctest.Values{"environment_id": ids[1]}); len(out.Errors) > 0 {
		t.Fatal(out)
	}
	refuseDefault(e, http.StatusForbidden)
	process = acctest.NewProcess(t, e, nil)
	out := process.Destroy(i)
	for _, want := range []string{"Cannot restore previous default environment", "403", "human with the Manager role"} {
		if !strings.Contains(out.Text(), want) {
			t.Errorf("the error lacks %q: %s", want, out.Text())
		}
	}
	if out := process.Apply(i, nil); len(out.Errors) > 0 || liveDefault(e) != ids[0] {
		t.Errorf("%s, and the default is %s", out, liveDefault(e))
	}
}

// Whatever is lost on the way, a destruction ends with the previous default.
func TestDefaultEnvironment_destructionWithFaults(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, -1} {
		for _, fault := range []emulator.Fault{
			{Kind: emulator.FaultDropBeforeCommit}, {Kind: emulator.FaultDropAfterCommit}, {Kind: emulator.FaultTruncatedBody}, {Kind: emulator.FaultNonJSON},
			{Kind: emulator.FaultStatusBeforeCommit, Status: 500}, {Kind: emulator.FaultStatusAfterCommit, Status: 503},
		} {
			for _, operation := range []string{"setDefaultEnvironment", "listEnvironments"} {
				t.Run(fmt.Sprint(operation, " ", fault.Kind, " ", fault.Status, " ", times), func(t *testing.T) {
					t.Parallel()
					e := acctest.New(t)
					ids := environmentsReady(e, "base", "a")
					mustDefault(t, e, ids[0])
					process := acctest.NewProcess(t, e, nil)
					i := process.NewInstance("agentyard_default_environment")
					if out := process.Apply(i, acctest.Values{"environment_id": ids[1]}); len(out.Errors) > 0 {
						t.Fatal(out)
					}
					fault.Operation, fault.Times = operation, times
					e.Faults().Add(fault)
					broken := acctest.NewProcess(t, e, nil).Destroy(i)
					e.Faults().Clear()
					if out := acctest.NewProcess(t, e, nil).Apply(i, nil); len(out.Errors) > 0 || !i.State.IsNull() || liveDefault(e) != ids[0] {
						t.Errorf("after %s: %s; the default is %s", broken, out, liveDefault(e))
					}
				})
			}
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
				CheckDestroy:             isDefault(e, ids[0]),
				Steps: []resource.TestStep{
					{PreConfig: inject, Config: e.Config(defaultConfig(ids[1])), Check: isDefault(e, ids[1]), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: defaultHas(ids[1], knownvalue.StringExact(ids[0]))},
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
		if text := oneLine(cli.MustRun(args...).Output); !strings.Contains(text, `The organization's default is "base" (`+base+`) at present, which is not set by this resource.`) {
			t.Errorf("%s: %s", command, text)
		}
	}
	cli.MustPlanEmpty()
	e.API(http.MethodDelete, "/api/v0/environments/"+base, nil, nil)
	text := oneLine(cli.MustRun("destroy", "-auto-approve", "-input=false").Output)
	if !strings.Contains(text, "Default Environment Was Left as It Is") || !strings.Contains(text, base+", which was the default before, does not exist any more.") {
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
			if i.Attribute("environment_id") != ids[1] || i.Attribute("previous_environment_id") != ids[0] || i.Tainted || liveDefault(e) != ids[1] {
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

func TestAccDefaultEnvironment_example(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	base := environmentsReady(e, "base")[0]
	mustDefault(t, e, base)
	acctest.RunExample(t, e, "resources/agentyard_default_environment/resource.tf")
	if got := liveDefault(e); got != base {
		t.Errorf("the default is %s", got)
	}
}

// Two of them undo each other's work, and each plan says so.
func TestAccDefaultEnvironment_twoOfThem(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	ids := environmentsReady(e, "a", "b")
	a, b := ids[0], ids[1]
	cli := acctest.NewCLI(t, e, defaultConfig(a)+strings.Replace(defaultConfig(b), `"test"`, `"other"`, 1))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	for range 2 {
		before := liveDefault(e)
		text := oneLine(cli.MustRun("apply", "-auto-approve", "-input=false").Output)
		if !strings.Contains(text, "0 added, 1 changed") || !strings.Contains(text, "Default Environment Will Be Replaced") || !strings.Contains(text, "two resources, set the default") {
			t.Errorf("the output: %s", text)
		}
		if after := liveDefault(e); after == before || after != a && after != b {
			t.Errorf("the default is %s, was %s", after, before)
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

// What the listing shows already is not promised in the plan.
func TestDefaultEnvironment_doubtsInThePlan(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	user := builtEnv(e, map[string]any{"name": "mine"})
	unbuilt := newEnv(e, map[string]any{"name": "unbuilt", "scope": "organization"})
	built := builtEnv(e, map[string]any{"name": "built", "scope": "organization"})
	failBuild(t, e, emulator.BuildFailure{})
	broken := builtEnv(e, map[string]any{"name": "broken", "scope": "organization"})
	for id, want := range map[string]string{
		"env_nope": "No environment with the ID env_nope is listed",
		user:       `The environment "mine" (` + user + ") has the scope `user`",
		broken:     `No build of the environment "broken" (` + broken + ") has succeeded yet",
		unbuilt:    "",
		built:      "",
	} {
		p := acctest.NewProcess(t, e, nil)
		out := p.Plan(p.NewInstance("agentyard_default_environment"), acctest.Values{"environment_id": id})
		if got := warnings(out); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: the plan warns %q, want %q", id, got, want)
		}
	}
}
