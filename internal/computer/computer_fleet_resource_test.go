package computer_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
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

const fleetAddress = "agentyard_computer_fleet.test"

func fleetConfig(quantity int, attributes string) string {
	return fmt.Sprintf("resource \"agentyard_computer_fleet\" \"test\" {\nname_prefix = \"web\"\nquantity = %d\n%s\n}\n", quantity, attributes)
}

func expectFleetAction(action plancheck.ResourceActionType, checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{
		PreApply:             append([]plancheck.PlanCheck{plancheck.ExpectResourceAction(fleetAddress, action)}, checks...),
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}
}

func fleetHas(names ...string) statecheck.StateCheck {
	exists := knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": knownvalue.NotNull()})
	checks := map[string]knownvalue.Check{}
	for _, name := range names {
		checks[name] = exists
	}
	return statecheck.ExpectKnownValue(fleetAddress, tfjsonpath.New("computers"), knownvalue.MapExact(checks))
}

func fleetStringIs(name, want string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(fleetAddress, tfjsonpath.New(name), knownvalue.StringExact(want))
}

// emulatorHas is a Check.
func emulatorHas(e *acctest.Env, names ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		var got []string
		for _, c := range computers(e) {
			got = append(got, c.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, names) {
			return fmt.Errorf("the emulator holds %v, want %v", got, names)
		}
		return nil
	}
}

func makeComputers(e *acctest.Env, prefix, account string, quantity int) {
	body := map[string]any{"namePrefix": prefix, "quantity": quantity}
	if account != "" {
		body["serviceAccountId"] = account
	}
	e.API(http.MethodPost, "/api/v0/computers/bulk", body, nil)
}

func TestAccFleet_scalesInPlace(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	// The plan shows those that stay, and that others are new.
	step := func(quantity int, action plancheck.ResourceActionType, stay int, names ...string) resource.TestStep {
		var planned []plancheck.PlanCheck
		for n := range names {
			id := tfjsonpath.New("computers").AtMapKey(names[n]).AtMapKey("id")
			if n < stay {
				planned = append(planned, plancheck.ExpectKnownValue(fleetAddress, id, knownvalue.NotNull()))
			} else {
				planned = append(planned, plancheck.ExpectUnknownValue(fleetAddress, id))
			}
		}
		return resource.TestStep{
			Config: e.Config(fleetConfig(quantity, "")), ConfigPlanChecks: expectFleetAction(action, planned...),
			ConfigStateChecks: []statecheck.StateCheck{
				fleetHas(names...), fleetStringIs("id", "web"),
				statecheck.ExpectKnownValue(fleetAddress, tfjsonpath.New("quantity"), knownvalue.Int64Exact(int64(quantity))),
			},
			Check: emulatorHas(e, names...),
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			step(0, plancheck.ResourceActionCreate, 0),
			step(2, plancheck.ResourceActionUpdate, 0, "web-1", "web-2"),
			step(2, plancheck.ResourceActionNoop, 2, "web-1", "web-2"),
			step(4, plancheck.ResourceActionUpdate, 2, "web-1", "web-2", "web-3", "web-4"),
			step(1, plancheck.ResourceActionUpdate, 1, "web-1"),
			step(0, plancheck.ResourceActionUpdate, 0),
			step(1, plancheck.ResourceActionUpdate, 0, "web-1"),
		},
	})
}

func TestAccFleet_everythingAndImport(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	attributes := `
  provider_type     = "managed-b"
  repos             = ["https://git.example/acme/app"]
  auto_install_deps = true
  wait_for_active   = true
  timeouts {
    create = "20m"
    update = "20m"
    delete = "5m"
  }`
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{
				Config: e.Config(fleetConfig(3, attributes)), ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionCreate),
				ConfigStateChecks: []statecheck.StateCheck{
					fleetStringIs("provider_type", "managed-b"),
					statecheck.ExpectKnownValue(fleetAddress, tfjsonpath.New("computers").AtMapKey("web-3"), knownvalue.ObjectExact(map[string]knownvalue.Check{
						"id": knownvalue.NotNull(), "status": knownvalue.StringExact("active"), "hostname": knownvalue.NotNull(), "remote_user": knownvalue.NotNull(),
						"relay_client_url": knownvalue.NotNull(), "relay_agent_url": knownvalue.NotNull(),
						"cloned_repo_directories": knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("/home/agent/app")}),
					})),
				},
			},
			{
				ResourceName: fleetAddress, ImportState: true, ImportStateVerify: true,
				// The service does not return these two; an import adopts them from the configuration.
				ImportStateVerifyIgnore: []string{"repos", "auto_install_deps", "timeouts"},
			},
			// What only the provider uses sends no request.
			{
				PreConfig: e.Journal().Reset,
				Config:    e.Config(fleetConfig(3, strings.Replace(strings.Replace(attributes, "20m", "30m", 2), "= true\n  timeouts", "= false\n  timeouts", 1))), ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{fleetHas("web-1", "web-2", "web-3")},
				Check: func(*terraform.State) error {
					for _, entry := range e.Journal().Entries() {
						if entry.Method != http.MethodGet {
							return fmt.Errorf("%s was sent", entry.Operation)
						}
					}
					return nil
				},
			},
		},
	})
}

func TestAccFleet_createOnlyAttributesReplace(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	step := func(attributes string, action plancheck.ResourceActionType) resource.TestStep {
		return resource.TestStep{
			Config: e.Config(fleetConfig(2, attributes)), ConfigPlanChecks: expectFleetAction(action),
			ConfigStateChecks: []statecheck.StateCheck{fleetHas("web-1", "web-2")}, Check: emulatorHas(e, "web-1", "web-2"),
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			step("", plancheck.ResourceActionCreate),
			step(`provider_type = "managed-a"`, plancheck.ResourceActionNoop),
			step(`provider_type = "managed-b"`, plancheck.ResourceActionReplace),
			step("", plancheck.ResourceActionNoop),
			step(`repos = ["https://git.example/acme/app"]`, plancheck.ResourceActionReplace),
			step(`repos = ["https://git.example/acme/tools"]`, plancheck.ResourceActionReplace),
			step("auto_install_deps = true", plancheck.ResourceActionReplace),
			step("auto_install_deps = false", plancheck.ResourceActionReplace),
			{
				Config:            e.Config(strings.Replace(fleetConfig(2, ""), "web", "app", 1)),
				ConfigPlanChecks:  expectFleetAction(plancheck.ResourceActionReplace),
				ConfigStateChecks: []statecheck.StateCheck{fleetHas("app-1", "app-2"), fleetStringIs("id", "app")}, Check: emulatorHas(e, "app-1", "app-2"),
			},
		},
	})
}

func TestAccFleet_deletedElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	remove := func(names ...string) func() {
		return func() {
			for _, c := range computers(e) {
				if slices.Contains(names, c.Name) {
					e.API(http.MethodDelete, "/api/v0/computers/"+c.ID, nil, nil)
				}
			}
		}
	}
	cfg := e.Config(fleetConfig(3, ""))
	again := func(names ...string) resource.TestStep {
		return resource.TestStep{
			PreConfig: remove(names...), Config: cfg, ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{fleetHas("web-1", "web-2", "web-3")}, Check: emulatorHas(e, "web-1", "web-2", "web-3"),
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{Config: cfg},
			again("web-2"),
			again("web-1", "web-2", "web-3"),
			{PreConfig: remove("web-1", "web-2", "web-3"), Config: cfg, Destroy: true},
		},
	})
}

func TestAccFleet_goneBetweenPlanAndDestroy(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{{Config: e.Config(fleetConfig(3, "")), Check: func(*terraform.State) error {
			e.Faults().Add(emulator.Fault{Operation: "deleteComputer", Kind: emulator.FaultStatusAfterCommit, Status: http.StatusNotFound, Times: 2})
			return nil
		}}},
	})
}

func TestAccFleet_shortfallFailsThePostconditionOnly(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	cfg := e.Config(fleetConfig(4, "lifecycle {\n postcondition {\n condition = alltrue([for c in values(self.computers) : c.status != \"missing\"])\n error_message = \"The fleet is short.\"\n }\n}"))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{PreConfig: func() { e.FailBulkAfter(3, "no capacity") }, Config: cfg, ExpectError: regexp.MustCompile(`The fleet is short`)},
			{
				PreConfig: func() {
					if err := emulatorHas(e, "web-1", "web-2", "web-3")(nil); err != nil {
						t.Error(err)
					}
				},
				Config: cfg, ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionUpdate), Check: emulatorHas(e, "web-1", "web-2", "web-3", "web-4"),
			},
		},
	})
}

func TestAccFleet_shortfallInUpdateIsAnError(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{Config: e.Config(fleetConfig(1, ""))},
			{
				PreConfig: func() { e.FailBulkAfter(1, "no capacity") }, Config: e.Config(fleetConfig(4, "")),
				ExpectError: regexp.MustCompile(`Fleet Is Short of Computers(.|\n)*2\s+of\s+4\s+computers(.|\n)*no\s+capacity(.|\n)*next\s+apply\s+creates\s+the\s+missing`),
			},
			{Config: e.Config(fleetConfig(4, "")), ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionUpdate), Check: emulatorHas(e, "web-1", "web-2", "web-3", "web-4")},
		},
	})
}

func TestAccFleet_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	fleet := func(attributes string) string {
		return "resource \"agentyard_computer_fleet\" \"test\" {\n" + attributes + "\n}\n"
	}
	for name, tc := range map[string]struct{ config, want string }{
		"no prefix":         {fleet("quantity = 1"), `"name_prefix"\s+is\s+required`},
		"no quantity":       {fleet(`name_prefix = "web"`), `"quantity"\s+is\s+required`},
		"empty prefix":      {fleet("quantity = 1\nname_prefix = \"\""), `name_prefix\s+must\s+be\s+1\s+to\s+58\s+characters\s+long`},
		"long prefix":       {fleet(fmt.Sprintf("quantity = 1\nname_prefix = %q", strings.Repeat("n", 59))), `name_prefix\s+must\s+be\s+1\s+to\s+58\s+characters\s+long`},
		"slash":             {fleet("quantity = 1\nname_prefix = \"a/b\""), `name_prefix\s+must\s+be\s+lowercase`},
		"upper case":        {fleet("quantity = 1\nname_prefix = \"Web\""), `name_prefix\s+must\s+be\s+lowercase`},
		"hyphen at the end": {fleet("quantity = 1\nname_prefix = \"web-\""), `name_prefix\s+must\s+be\s+lowercase`},
		"negative":          {fleetConfig(-1, ""), `quantity\s+value\s+must\s+be\s+at\s+least\s+0`},
		"byom":              {fleetConfig(1, `provider_type = "byom"`), `provider_type\s+must\s+not\s+be\s+"byom"(.|\n)*agentyard_computer`},
		"repos":             {fleetConfig(1, "repos = ["+strings.Repeat("\"https://git.example/a\",", 21)+"]"), `repos list must contain at most 20 elements`},
		"repo no URI":       {fleetConfig(1, "repos = [\"acme/app\"]"), `repos\[0\]\s+must\s+be\s+an\s+absolute\s+URI`},
		"repo too long":     {fleetConfig(1, fmt.Sprintf("repos = [\"https://git.example/%s\"]", strings.Repeat("a", 2048))), `repos\[0\]\s+must\s+be\s+at\s+most\s+2048\s+characters\s+long`},
		"account":           {fleetConfig(1, `service_account_id = "a/b"`), `service_account_id\s+must\s+not\s+contain\s+slashes`},
		"timeout":           {fleetConfig(1, "timeouts {\n  update = \"soon\"\n}"), `update = "soon"(.|\n)*Valid\s+time\s+units`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: e.Config(tc.config), PlanOnly: true, ExpectError: regexp.MustCompile(tc.want)}},
			})
			if requests := e.Journal().Entries(); len(requests) > 0 {
				t.Errorf("the service was asked: %+v", requests)
			}
		})
	}
}

func TestAccFleet_errorsOfTheService(t *testing.T) {
	t.Parallel()
	status := func(code int) emulator.Fault {
		return emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: code}
	}
	for name, tc := range map[string]struct {
		config string
		fault  emulator.Fault
		want   string
	}{
		"unknown provider": {config: fleetConfig(1, `provider_type = "managed-z"`), want: `Cannot create computer fleet(.|\n)*provider_type = "managed-z"(.|\n)*bulkCreateComputers(.|\n)*400(.|\n)*Correct\s+the\s+value\s+of\s+provider_type`},
		"unknown account":  {config: fleetConfig(1, `service_account_id = "unknown"`), want: `Cannot create computer fleet(.|\n)*service_account_id = "unknown"(.|\n)*listComputers(.|\n)*404(.|\n)*Check\s+the\s+IDs`},
		"names taken":      {config: fleetConfig(1, ""), want: `Cannot create computer fleet(.|\n)*name_prefix = "web"(.|\n)*web-1(.|\n)*2026-03-01T12:00:00Z(.|\n)*terraform\s+import\s+ADDRESS\s+web(.|\n)*Raise\s+quantity(.|\n)*choose\s+another\s+name_prefix`},
		"401":              {config: fleetConfig(1, ""), fault: status(401), want: `bulkCreateComputers(.|\n)*401(.|\n)*AGENTYARD_API_KEY`},
		"402":              {config: fleetConfig(1, ""), fault: status(402), want: `bulkCreateComputers(.|\n)*402(.|\n)*plan\s+does\s+not\s+include`},
		"403":              {config: fleetConfig(1, ""), fault: status(403), want: `bulkCreateComputers(.|\n)*403(.|\n)*Manager`},
		"404":              {config: fleetConfig(1, ""), fault: status(404), want: `bulkCreateComputers(.|\n)*404(.|\n)*Check\s+the\s+IDs`},
		"409":              {config: fleetConfig(1, ""), fault: status(409), want: `bulkCreateComputers(.|\n)*409(.|\n)*Resolve\s+the\s+conflict`},
		"429":              {config: fleetConfig(1, ""), fault: emulator.Fault{Kind: emulator.FaultRateLimited, Times: -1}, want: `bulkCreateComputers(.|\n)*429(.|\n)*requests_per_second`},
		"500":              {config: fleetConfig(1, ""), fault: status(500), want: `unknown\s+outcome(.|\n)*bulkCreateComputers(.|\n)*500(.|\n)*Apply\s+again`},
		"503":              {config: fleetConfig(1, ""), fault: status(503), want: `unknown\s+outcome(.|\n)*bulkCreateComputers(.|\n)*503(.|\n)*Apply\s+again`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			if name == "names taken" {
				makeComputers(e, "web", "", 1)
			}
			if tc.fault.Kind != "" {
				tc.fault.Operation = "bulkCreateComputers"
				e.Faults().Add(tc.fault)
			}
			before := len(computers(e))
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: e.Config(tc.config), ExpectError: regexp.MustCompile(tc.want)}},
			})
			if after := len(computers(e)); after != before {
				t.Errorf("%d computers, were %d", after, before)
			}
		})
	}
}

func TestAccFleet_faultsThroughTheCLI(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{
		"dropped after commit": {Kind: emulator.FaultDropAfterCommit},
		"500 after commit":     {Kind: emulator.FaultStatusAfterCommit, Status: 500},
		"truncated":            {Kind: emulator.FaultTruncatedBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			fault.Operation = "bulkCreateComputers"
			inject := func() { e.Faults().Add(fault) }
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				CheckDestroy:             noneLeft(e),
				Steps: []resource.TestStep{
					{PreConfig: inject, Config: e.Config(fleetConfig(2, "")), ConfigPlanChecks: acctest.ThenEmpty, Check: emulatorHas(e, "web-1", "web-2")},
					{PreConfig: inject, Config: e.Config(fleetConfig(3, "")), ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionUpdate), Check: emulatorHas(e, "web-1", "web-2", "web-3")},
				},
			})
		})
	}
}

func TestAccFleet_interruptedWaitIsNotTainted(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready := make(chan struct{})
	// One computer alone is polled by its ID, so that the first such request tells that the wait is under way.
	e := acctest.NewRealTime(t,
		func(o *emulator.Options) { o.Provisioning.Step = 1e12 },
		acctest.Intercept("getComputer", false, func() { <-ready; running.Interrupt() }))
	cli := acctest.NewCLI(t, e, fleetConfig(1, ""))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	if r := running.Wait(); r.ExitCode == 0 || !strings.Contains(r.Output, "Interrupted Before the Fleet Was Active") {
		t.Errorf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	id := only(t, e).ID
	if state := cli.MustRun("state", "show", fleetAddress); !strings.Contains(state.Output, id) || strings.Contains(state.Output, "tainted") {
		t.Errorf("the state: %s", state.Output)
	}
	cli.MustPlanEmpty()
}

func TestAccFleet_killedAfterCommitStopsAtWhatItFinds(t *testing.T) {
	t.Parallel()
	for name, managed := range map[string]bool{"creating": false, "scaling up": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var running *acctest.Running
			ready := make(chan struct{})
			e := acctest.NewRealTime(t,
				func(o *emulator.Options) { o.Provisioning.Step = 1e6 },
				acctest.Intercept("bulkCreateComputers", true, func() { <-ready; running.Kill() }))
			cli := acctest.NewCLI(t, e, fleetConfig(3, ""))
			if managed {
				e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "web-1"}, nil)
				cli.MustRun("import", fleetAddress, "web")
			}
			running = cli.Start("apply", "-auto-approve", "-input=false")
			close(ready)
			if r := running.Wait(); r.ExitCode == 0 {
				t.Fatalf("the apply was not killed: %s", r.Output)
			}
			ids := computerIDs(e)

			r := cli.Run("apply", "-auto-approve", "-input=false", "-lock=false")
			text := regexp.MustCompile(`[\s│]+`).ReplaceAllString(r.Output, " ")
			if r.ExitCode == 0 || !strings.Contains(text, "web-3 (") || !strings.Contains(text, "terraform import ADDRESS web") {
				t.Fatalf("exit code %d\n%s", r.ExitCode, r.Output)
			}
			if managed {
				if !strings.Contains(text, "terraform state rm ADDRESS") {
					t.Errorf("nothing is said about the state: %s", text)
				}
				cli.MustRun("state", "rm", "-lock=false", fleetAddress)
			}
			cli.MustRun("import", "-lock=false", fleetAddress, "web")
			cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
			after := computerIDs(e)
			slices.Sort(ids)
			slices.Sort(after)
			if !slices.Equal(ids, after) || len(after) != 3 || e.Journal().Count("bulkCreateComputers") != 1 {
				t.Errorf("the computers are %v, were %v; %d creations were sent", after, ids, e.Journal().Count("bulkCreateComputers"))
			}
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			if left := computers(e); len(left) > 0 {
				t.Errorf("left: %+v", left)
			}
		})
	}
}
