package computer_test

import (
	"fmt"
	"net/http"
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
	address = "agentyard_computer.test"
	hostA   = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	hostB   = "2c5f39cb-3fb2-42e3-994f-1127e4ddb538"
)

// computerJSON is what the tests look at in the emulator.
type computerJSON struct {
	ID, Name, Status, HostID, RemoteUser, OwnerID, OwnerPrincipalKind string
	ClonedRepoDirectories                                             []string
}

func computers(e *acctest.Env) []computerJSON {
	var answer struct{ Computers []computerJSON }
	e.API(http.MethodGet, "/api/v0/computers?includeUnlisted=true", nil, &answer)
	return answer.Computers
}

func only(t *testing.T, e *acctest.Env) computerJSON {
	t.Helper()
	all := computers(e)
	if len(all) != 1 {
		t.Fatalf("the emulator holds %d computers, want 1: %+v", len(all), all)
	}
	return all[0]
}

// noneLeft is a CheckDestroy.
func noneLeft(e *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if left := computers(e); len(left) > 0 {
			return fmt.Errorf("the emulator still holds %+v", left)
		}
		return nil
	}
}

func expectAction(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{
		PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)},
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}
}

func stringIs(name, want string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), knownvalue.StringExact(want))
}

func config(attributes string) string {
	return "resource \"agentyard_computer\" \"test\" {\n" + attributes + "\n}\n"
}

func TestAccComputer_managedWithEverything(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	full := e.Config(config(`
  name              = "full"
  provider_type     = "managed-b"
  host_id           = "` + hostA + `"
  remote_user       = "dev"
  repos             = ["https://git.example/acme/app"]
  auto_install_deps = true
  wait_for_active   = true
  timeouts {
    create = "20m"
    delete = "5m"
  }`))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{
				Config:           full,
				ConfigPlanChecks: expectAction(plancheck.ResourceActionCreate),
				ConfigStateChecks: []statecheck.StateCheck{
					stringIs("name", "full"), stringIs("provider_type", "managed-b"), stringIs("host_id", hostA), stringIs("remote_user", "dev"), stringIs("status", "active"),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("created_at"), knownvalue.StringRegexp(regexp.MustCompile(`^2026-03-01T12:\d\d:\d\d(\.\d+)?Z$`))),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("cloned_repo_directories"), knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("/home/dev/app")})),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("relay_client_url"), knownvalue.StringRegexp(regexp.MustCompile(`^wss://`))),
				},
			},
			{
				ResourceName: address, ImportState: true, ImportStateVerify: true,
				// The service does not return these two; an import adopts them from the configuration.
				ImportStateVerifyIgnore: []string{"repos", "auto_install_deps", "timeouts"},
			},
		},
	})
}

func TestAccComputer_leastThenEachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	step := func(attributes string, action plancheck.ResourceActionType, checks ...statecheck.StateCheck) resource.TestStep {
		return resource.TestStep{Config: e.Config(config(attributes)), ConfigPlanChecks: expectAction(action), ConfigStateChecks: checks}
	}
	var id string
	remember := func(*terraform.State) error { id = only(t, e).ID; return nil }
	same := func(*terraform.State) error {
		if got := only(t, e).ID; got != id {
			return fmt.Errorf("the computer was replaced: %s, was %s", got, id)
		}
		return nil
	}
	with := func(s resource.TestStep, check resource.TestCheckFunc) resource.TestStep { s.Check = check; return s }
	patches := func(want int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			if got := e.Journal().Count("updateComputer"); got != want {
				return fmt.Errorf("%d updates were sent, want %d", got, want)
			}
			return nil
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			with(step(`name = "least"`, plancheck.ResourceActionCreate, stringIs("provider_type", "managed-a"), stringIs("status", "active")), remember),
			with(step(`name = "renamed"`, plancheck.ResourceActionUpdate, stringIs("name", "renamed")), same),
			with(step("name = \"renamed\"\nremote_user = \"dev\"", plancheck.ResourceActionUpdate, stringIs("remote_user", "dev")), same),
			// Removed from the configuration, the service's value stays.
			with(step(`name = "renamed"`, plancheck.ResourceActionNoop, stringIs("remote_user", "dev")), same),
			with(step("name = \"renamed\"\nhost_id = \""+hostA+"\"", plancheck.ResourceActionUpdate, stringIs("host_id", hostA)), same),
			with(step(`name = "renamed"`, plancheck.ResourceActionNoop, stringIs("host_id", hostA)), patches(3)),
			// What only the provider uses sends no request.
			with(step("name = \"renamed\"\nwait_for_active = false\ntimeouts {\n  delete = \"3m\"\n}", plancheck.ResourceActionUpdate), patches(3)),
			with(step("name = \"renamed\"\nhost_id = \""+hostB+"\"", plancheck.ResourceActionReplace, stringIs("host_id", hostB)), remember),
			step("name = \"renamed\"\nhost_id = \""+hostB+"\"\nprovider_type = \"managed-b\"", plancheck.ResourceActionReplace, stringIs("provider_type", "managed-b")),
			step("name = \"renamed\"\nprovider_type = \"byom\"\nremote_user = \"me\"", plancheck.ResourceActionReplace, stringIs("status", "active"), stringIs("remote_user", "me")),
		},
	})
}

func TestAccComputer_createOnlyAttributesReplace(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	step := func(attributes string, action plancheck.ResourceActionType) resource.TestStep {
		return resource.TestStep{Config: e.Config(config("name = \"c\"\n" + attributes)), ConfigPlanChecks: expectAction(action)}
	}
	template := func(listed bool, draft string) string {
		return fmt.Sprintf("source = {\n  kind = \"template\"\n  template_id = \"template-base\"\n  is_listed = %v\n%s\n}", listed, draft)
	}
	draft := "  software_draft = {\n    workstream_id = \"" + hostA + "\"\n    creation_session_id = \"" + hostA + "\"\n    first_turn_id = \"" + hostA + "\"\n  }"
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			step(`repos = ["https://git.example/acme/app"]`, plancheck.ResourceActionCreate),
			step(`repos = ["https://git.example/acme/tools"]`, plancheck.ResourceActionReplace),
			step("repos = [\"https://git.example/acme/tools\"]\nauto_install_deps = true", plancheck.ResourceActionReplace),
			step("repos = [\"https://git.example/acme/tools\"]\nauto_install_deps = false", plancheck.ResourceActionReplace),
			step(template(false, ""), plancheck.ResourceActionReplace),
			step(template(true, ""), plancheck.ResourceActionReplace),
			step(template(true, draft), plancheck.ResourceActionReplace),
			step(template(false, draft), plancheck.ResourceActionReplace),
		},
	})
}

func TestAccComputer_fromAnotherComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{
				Config: e.Config(`
resource "agentyard_computer" "original" {
  name = "original"
}
` + config("name = \"copy\"\nsource = {\n  kind = \"computer\"\n  source_computer_id = agentyard_computer.original.id\n}")),
				ConfigPlanChecks: acctest.ThenEmpty,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("computer_source").AtMapKey("kind"), knownvalue.StringExact("computer")),
				},
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true},
		},
	})
}

func TestAccComputer_importThenPlanIsEmpty(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var made computerJSON
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{
		"name": "existing", "remoteUser": "dev", "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": false},
	}, &made)
	attributes := "name = \"existing\"\nremote_user = \"dev\"\nsource = {\n  kind = \"template\"\n  template_id = \"template-base\"\n  is_listed = false\n}"
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{
				Config:       e.Config(config(attributes)),
				ResourceName: address, ImportState: true, ImportStateId: made.ID, ImportStatePersist: true,
			},
			{
				Config:           e.Config(config(attributes)),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			// A create-only argument of which the state knows nothing is adopted, not a reason to replace.
			{
				Config:           e.Config(config(attributes + "\nrepos = [\"https://git.example/acme/app\"]\nauto_install_deps = true")),
				ConfigPlanChecks: expectAction(plancheck.ResourceActionUpdate),
				Check: func(*terraform.State) error {
					if got := only(t, e).ID; got != made.ID || e.Journal().Count("updateComputer") != 0 {
						return fmt.Errorf("computer %s, want %s; %d updates, want none", got, made.ID, e.Journal().Count("updateComputer"))
					}
					return nil
				},
			},
		},
	})
}

func TestAccComputer_changedAndDeletedElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	cfg := e.Config(config(`name = "drifting"`))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{Config: cfg},
			{
				PreConfig: func() {
					e.API(http.MethodPatch, "/api/v0/computers/"+only(t, e).ID, map[string]any{"name": "elsewhere"}, nil)
				},
				Config:           cfg,
				ConfigPlanChecks: expectAction(plancheck.ResourceActionUpdate),
				Check: func(*terraform.State) error {
					if got := only(t, e).Name; got != "drifting" {
						return fmt.Errorf("the name is %q", got)
					}
					return nil
				},
			},
			{
				PreConfig:        func() { e.API(http.MethodDelete, "/api/v0/computers/"+only(t, e).ID, nil, nil) },
				Config:           cfg,
				ConfigPlanChecks: expectAction(plancheck.ResourceActionCreate),
			},
			{
				PreConfig: func() { e.API(http.MethodDelete, "/api/v0/computers/"+only(t, e).ID, nil, nil) },
				Config:    cfg, Destroy: true,
			},
		},
	})
}

func TestAccComputer_goneBetweenPlanAndDestroy(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{{Config: e.Config(config(`name = "gone"`)), Check: func(*terraform.State) error {
			// The destruction that follows is answered 404.
			e.Faults().Add(emulator.Fault{Operation: "deleteComputer", Kind: emulator.FaultStatusAfterCommit, Status: http.StatusNotFound})
			return nil
		}}},
	})
	if left := computers(e); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestAccComputer_failedProvisioningNamesTheStepAndIsReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.FailProvisioning(emulator.FailStep{Name: "broken", Step: "clone-repos", Error: "the repository refuses the credentials", Times: 1})
	cfg := e.Config(config("name = \"broken\"\nrepos = [\"https://git.example/acme/app\"]"))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{Config: cfg, ExpectError: regexp.MustCompile(`Computer Failed to Provision(.|\n)*refuses\s+the\s+credentials(.|\n)*The\s+next\s+apply\s+replaces\s+it`)},
			{Config: cfg, ConfigPlanChecks: expectAction(plancheck.ResourceActionReplace), ConfigStateChecks: []statecheck.StateCheck{stringIs("status", "active")}},
		},
	})
}

func TestAccComputer_timeoutBoundsTheWait(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.Provisioning.Step = 1e12 })
	cfg := func(extra string) string { return e.Config(config("name = \"slow\"\n" + extra)) }
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{
				Config:      cfg("timeouts {\n  create = \"2m\"\n}"),
				ExpectError: regexp.MustCompile(`Timed Out Waiting for the Computer(.|\n)*still\s+"provisioning"\s+after\s+2m(.|\n)*continues\s+at\s+the\s+service(.|\n)*terraform\s+untaint`),
			},
			{Config: cfg("wait_for_active = false"), ConfigPlanChecks: expectAction(plancheck.ResourceActionReplace), ConfigStateChecks: []statecheck.StateCheck{stringIs("status", "provisioning")}},
		},
	})
	if waited := e.Clock.Now().Sub(acctest.Start); waited.Minutes() > 4 {
		t.Errorf("the wait of 2m took %v", waited)
	}
}

func TestAccComputer_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	repos := strings.Repeat("\"https://git.example/a\",", 21)
	for name, tc := range map[string]struct{ attributes, want string }{
		"empty name":      {`name = ""`, `name\s+must\s+be\s+1\s+to\s+63\s+characters\s+long`},
		"long name":       {fmt.Sprintf("name = %q", strings.Repeat("n", 64)), `name\s+must\s+be\s+1\s+to\s+63\s+characters\s+long`},
		"host ID":         {"name = \"n\"\nhost_id = \"not-a-uuid\"", `host_id(.|\n)*must\s+be\s+a\s+UUID`},
		"remote user":     {fmt.Sprintf("name = \"n\"\nremote_user = %q", strings.Repeat("u", 64)), `remote_user\s+must\s+be\s+1\s+to\s+63\s+characters\s+long`},
		"repos":           {"name = \"n\"\nrepos = [" + repos + "]", `repos list must contain at most 20 elements`},
		"repo no URI":     {"name = \"n\"\nrepos = [\"acme/app\"]", `repos\[0\]\s+must\s+be\s+an\s+absolute\s+URI`},
		"repo too long":   {fmt.Sprintf("name = \"n\"\nrepos = [\"https://git.example/%s\"]", strings.Repeat("a", 2048)), `repos\[0\]\s+must\s+be\s+at\s+most\s+2048\s+characters\s+long`},
		"kind":            {"name = \"n\"\nsource = {\n  kind = \"image\"\n}", `source\.kind\s+value\s+must\s+be\s+one\s+of`},
		"another's field": {"name = \"n\"\nsource = {\n  kind = \"computer\"\n  source_computer_id = \"x\"\n  template_id = \"t\"\n}", `source of kind "computer" cannot have template_id`},
		"missing field":   {"name = \"n\"\nsource = {\n  kind = \"template\"\n  template_id = \"t\"\n}", `source of kind "template" requires is_listed`},
		"draft":           {"name = \"n\"\nsource = {\n  kind = \"template\"\n  template_id = \"t\"\n  is_listed = true\n  software_draft = {\n    workstream_id = \"1\"\n    creation_session_id = \"1\"\n    first_turn_id = \"1\"\n  }\n}", `must\s+be\s+a\s+UUID`},
		"timeout":         {"name = \"n\"\ntimeouts {\n  create = \"soon\"\n}", `create = "soon"(.|\n)*Valid\s+time\s+units`},
		"no time":         {"name = \"n\"\ntimeouts {\n  create = \"0s\"\n}", `create = "0s"(.|\n)*timeouts\.create\s+must\s+be\s+longer\s+than\s+0s`},
		"byom repos":      {"name = \"n\"\nprovider_type = \"byom\"\nrepos = [\"https://git.example/a\"]", `repos = (.|\n)*cannot\s+have\s+repos\.\s+Remove\s+it,\s+or\s+choose\s+a\s+managed\s+provider`},
		"byom install":    {"name = \"n\"\nprovider_type = \"byom\"\nauto_install_deps = true", `auto_install_deps = true(.|\n)*Only for Managed Computers|Only for Managed Computers(.|\n)*auto_install_deps = true`},
		"byom source":     {"name = \"n\"\nprovider_type = \"byom\"\nsource = {\n  kind = \"computer\"\n  source_computer_id = \"x\"\n}", `Only for Managed Computers(.|\n)*source = `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: e.Config(config(tc.attributes)), PlanOnly: true, ExpectError: regexp.MustCompile(tc.want)}},
			})
			if requests := e.Journal().Entries(); len(requests) > 0 {
				t.Errorf("the service was asked: %+v", requests)
			}
		})
	}
}

func TestAccComputer_errorsOfTheService(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		attributes string
		fault      emulator.Fault
		want       string
	}{
		"unknown provider": {attributes: `provider_type = "managed-z"`, want: `provider_type(.|\n)*Cannot create computer|Cannot create computer(.|\n)*provider_type`},
		"unknown template": {attributes: "source = {\n  kind = \"template\"\n  template_id = \"unknown\"\n  is_listed = true\n}", want: `Cannot create computer(.|\n)*404(.|\n)*Check\s+the\s+IDs`},
		"name taken":       {attributes: "", want: `Cannot create computer(.|\n)*already\s+exists(.|\n)*2026-03-01T12:00:00Z(.|\n)*terraform\s+import\s+ADDRESS`},
		"401":              {fault: emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 401}, want: `createComputer(.|\n)*401(.|\n)*AGENTYARD_API_KEY`},
		"402":              {fault: emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 402}, want: `createComputer(.|\n)*402(.|\n)*plan\s+does\s+not\s+include`},
		"403":              {fault: emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 403}, want: `createComputer(.|\n)*403(.|\n)*Manager`},
		"429":              {fault: emulator.Fault{Kind: emulator.FaultRateLimited, Times: -1}, want: `createComputer(.|\n)*429(.|\n)*requests_per_second`},
		"500":              {fault: emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 500}, want: `unknown\s+outcome(.|\n)*createComputer(.|\n)*500(.|\n)*Apply\s+again`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			computerName := "n"
			if name == "name taken" {
				e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": computerName}, nil)
			}
			if tc.fault.Kind != "" {
				tc.fault.Operation = "createComputer"
				e.Faults().Add(tc.fault)
			}
			before := len(computers(e))
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: e.Config(config("name = \"n\"\n" + tc.attributes)), ExpectError: regexp.MustCompile(tc.want)}},
			})
			if after := len(computers(e)); after != before {
				t.Errorf("%d computers, were %d", after, before)
			}
		})
	}
}

func TestAccComputer_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{
			{
				Config:           e.Config(config(fmt.Sprintf("name = \"robots\"\nservice_account_id = %q", account.ID))),
				ConfigPlanChecks: acctest.ThenEmpty,
				ConfigStateChecks: []statecheck.StateCheck{
					stringIs("owner_id", account.ID), stringIs("owner_principal_kind", "service"),
				},
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true},
			{
				Config:           e.Config(config(`name = "robots"`)),
				ConfigPlanChecks: expectAction(plancheck.ResourceActionReplace),
			},
		},
	})
}

// The key's owner is the service account itself, so the computer has an owner that nobody configured.
func TestAccComputer_withTheKeyOfAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	var minted struct{ APIKey struct{ Value string } }
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account.ID+"/api-keys", map[string]any{"name": "own"}, &minted)
	cfg := strings.Replace(e.Config(config(`name = "mine"`)), e.BootstrapKey(), minted.APIKey.Value, 1)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{
			{
				Config:           cfg,
				ConfigPlanChecks: expectAction(plancheck.ResourceActionCreate),
				ConfigStateChecks: []statecheck.StateCheck{
					stringIs("owner_id", account.ID),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("service_account_id"), knownvalue.Null()),
				},
			},
			{Config: strings.Replace(cfg, "mine", "renamed", 1), ConfigPlanChecks: expectAction(plancheck.ResourceActionUpdate)},
		},
	})
}
