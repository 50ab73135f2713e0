package computer_test

import (
	"fmt"
	"maps"
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

func expectAction(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return acctest.PlannedThenEmpty(address, action)
}

func stringIs(name, want string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), knownvalue.StringExact(want))
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
				// The service does not return repos and auto_install_deps. An import adopts them from the configuration.
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
			// When the attribute is removed from the configuration, the service's value is kept.
			with(step(`name = "renamed"`, plancheck.ResourceActionNoop, stringIs("remote_user", "dev")), same),
			with(step("name = \"renamed\"\nhost_id = \""+hostA+"\"", plancheck.ResourceActionUpdate, stringIs("host_id", hostA)), same),
			with(step(`name = "renamed"`, plancheck.ResourceActionNoop, stringIs("host_id", hostA)), patches(3)),
			// Changes to attributes of the provider send no request.
			with(step("name = \"renamed\"\nwait_for_active = false\ntimeouts {\n  delete = \"3m\"\n}", plancheck.ResourceActionUpdate), patches(3)),
			with(step("name = \"renamed\"\nhost_id = \""+hostB+"\"", plancheck.ResourceActionReplace, stringIs("host_id", hostB)), remember),
			step("name = \"renamed\"\nhost_id = \""+hostB+"\"\nprovider_type = \"managed-b\"", plancheck.ResourceActionReplace, stringIs("provider_type", "managed-b")),
			step("name = \"renamed\"\nprovider_type = \"byom\"\nremote_user = \"me\"", plancheck.ResourceActionReplace, stringIs("status", "active"), stringIs("remote_user", "me")),
		},
	})
}

// A create-only argument is adopted right after an import, and forces replacement at any other time.
func TestComputer_createOnlyAttributesReplace(t *testing.T) {
	t.Parallel()
	app, tools := []any{"https://git.example/acme/app"}, []any{"https://git.example/acme/tools"}
	draft := map[string]any{"workstream_id": hostA, "creation_session_id": hostA, "first_turn_id": hostA}
	template := func(listed bool, draft any) acctest.Values {
		return acctest.Values{"source": map[string]any{"kind": "template", "template_id": "template-base", "is_listed": listed, "software_draft": draft}}
	}
	e := acctest.New(t)
	account := newAccount(e)
	for name, steps := range map[string][]acctest.Values{
		"repos":              {nil, {"repos": app}, {"repos": tools}},
		"auto_install_deps":  {{"repos": app}, {"repos": app, "auto_install_deps": true}, {"repos": app, "auto_install_deps": false}},
		"source":             {nil, template(false, nil), template(true, nil), template(true, draft), template(false, draft)},
		"service_account_id": {nil, {"service_account_id": account}, nil},
	} {
		i := e.NewInstance(t, computerType)
		for n, step := range steps {
			config, action := acctest.Values{"name": name}, acctest.ActionReplace
			maps.Copy(config, step)
			if n == 0 {
				action = "create"
			}
			e.Apply(t, i, config).MustDo(t, action)
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		}
	}
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

func TestComputer_importThenPlanIsEmpty(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := makeComputer(e, map[string]any{
		"name": "existing", "remoteUser": "dev", "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": false},
	})
	i := e.NewInstance(t, computerType)
	mustImport(t, e, i, made.ID)
	config := acctest.Values{"name": "existing", "remote_user": "dev", "source": map[string]any{"kind": "template", "template_id": "template-base", "is_listed": false}}
	e.Apply(t, i, config).MustDo(t, acctest.ActionNone)
	// A create-only argument that is null in the state is adopted and does not force replacement.
	config["repos"], config["auto_install_deps"] = []any{"https://git.example/acme/app"}, true
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if i.ID() != made.ID || e.Journal().Count("updateComputer") != 0 {
		t.Errorf("computer %s, want %s; %d updates, want none", i.ID(), made.ID, e.Journal().Count("updateComputer"))
	}
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
}

func TestComputer_changedAndDeletedElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"name": "drifting"}
	_, i := e.Created(t, computerType, config)
	e.API(http.MethodPatch, "/api/v0/computers/"+i.ID(), map[string]any{"name": "elsewhere"}, nil)
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if got := only(t, e).Name; got != "drifting" {
		t.Errorf("the name is %q", got)
	}
	deleteComputers(e, "drifting")
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	deleteComputers(e, "drifting")
	if e.Apply(t, i, nil).MustDo(t, acctest.ActionNone); !i.State.IsNull() {
		t.Errorf("the state is %s", i.State)
	}
}

func TestComputer_failedProvisioningNamesTheStepAndIsReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.FailProvisioning(emulator.FailStep{Name: "broken", Step: "clone-repos", Error: "the repository refuses the credentials", Times: 1})
	config := acctest.Values{"name": "broken", "repos": []any{"https://git.example/acme/app"}}
	i := e.NewInstance(t, computerType)
	e.Apply(t, i, config).MustFail(t, "", "Computer Failed to Provision", "refuses the credentials", "the next apply replaces it")
	e.Apply(t, i, config).MustDo(t, acctest.ActionReplace)
	if got := only(t, e); got.ID != i.ID() || got.Status != "active" || i.Attribute("status") != "active" {
		t.Errorf("the emulator holds %+v, the state %s", got, i.State)
	}
}

func TestComputer_timeoutBoundsTheWait(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, neverSetUp)
	i := e.NewInstance(t, computerType)
	e.Apply(t, i, acctest.Values{"name": "slow", "timeouts": map[string]any{"create": "2m"}}).MustFail(t, "",
		"Timed Out Waiting for the Computer", `still "provisioning" after 2m`, "continues at the service", "terraform untaint")
	if waited := e.Clock.Now().Sub(acctest.Start); waited > 4*time.Minute || !i.Tainted {
		t.Errorf("the wait of 2m took %v; tainted: %v", waited, i.Tainted)
	}
	unwatched := acctest.Values{"name": "slow", "wait_for_active": false}
	if e.Apply(t, i, unwatched).MustDo(t, acctest.ActionReplace); i.Attribute("status") != "provisioning" {
		t.Errorf("the state is %s", i.State)
	}
	e.Plan(t, i, unwatched).MustDo(t, acctest.ActionNone)
}

func TestComputer_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var many []any
	for range 21 {
		many = append(many, "https://git.example/a")
	}
	repo := "repos[0]"
	source := func(kind string, more map[string]any) acctest.Values {
		fields := map[string]any{"kind": kind}
		maps.Copy(fields, more)
		return acctest.Values{"source": fields}
	}
	in := func(name string) string { return "source." + name }
	draft := map[string]any{"workstream_id": "1", "creation_session_id": hostA, "first_turn_id": hostA}
	for _, tc := range []struct {
		values   acctest.Values
		at, want string
	}{
		{acctest.Values{"name": ""}, "name", "name must be 1 to 63 characters long"},
		{acctest.Values{"name": strings.Repeat("n", 64)}, "name", "name must be 1 to 63 characters long"},
		{acctest.Values{"host_id": "not-a-uuid"}, "host_id", "must be a UUID"},
		{acctest.Values{"remote_user": strings.Repeat("u", 64)}, "remote_user", "remote_user must be 1 to 63 characters long"},
		{acctest.Values{"repos": many}, "repos", "repos list must contain at most 20 elements"},
		{acctest.Values{"repos": []any{"acme/app"}}, repo, "repos[0] must be an absolute URI"},
		{acctest.Values{"repos": []any{"https://git.example/" + strings.Repeat("a", 2048)}}, repo, "repos[0] must be at most 2048 characters long"},
		{source("image", nil), in("kind"), "source.kind must be one of template, execution-template, computer, got: \"image\""},
		{source("computer", map[string]any{"source_computer_id": "x", "template_id": "t"}), in("template_id"), `source of kind "computer" cannot have template_id`},
		{source("template", map[string]any{"template_id": "t"}), in("is_listed"), `source of kind "template" requires is_listed`},
		{source("template", map[string]any{"template_id": "t", "is_listed": true, "software_draft": draft}), in("software_draft.workstream_id"), "must be a UUID"},
		{acctest.Values{"timeouts": map[string]any{"create": "soon"}}, "timeouts.create", "Valid time units"},
		{acctest.Values{"timeouts": map[string]any{"create": "0s"}}, "timeouts.create", "timeouts.create must be longer than 0s"},
		{acctest.Values{"provider_type": "byom", "repos": []any{"https://git.example/a"}}, "repos", "cannot have repos. Remove it, or choose a managed provider"},
		{acctest.Values{"provider_type": "byom", "auto_install_deps": true}, "auto_install_deps", "Only for Managed Computers"},
		{acctest.Values{"provider_type": "byom", "source": map[string]any{"kind": "computer", "source_computer_id": "x"}}, "source", "Only for Managed Computers"},
	} {
		config := acctest.Values{"name": "n"}
		maps.Copy(config, tc.values)
		e.Plan(t, e.NewInstance(t, computerType), config).MustInclude(t, tc.at, tc.want)
	}
	mustBeSilent(t, e)
}

func TestComputer_errorsOfTheService(t *testing.T) {
	t.Parallel()
	const create = "Cannot create computer"
	for name, tc := range map[string]struct {
		values acctest.Values
		status int
		at     string
		want   []string
	}{
		"unknown provider": {values: acctest.Values{"provider_type": "managed-z"}, at: "provider_type", want: []string{"Provider Not Available", "managed-z", "managed-a, managed-b"}},
		"unknown template": {values: acctest.Values{"source": map[string]any{"kind": "template", "template_id": "unknown", "is_listed": true}}, want: []string{create, "404", "check the IDs"}},
		"unknown account":  {values: acctest.Values{"service_account_id": "sa_unknown"}, at: "service_account_id", want: []string{create, "404", `No service account with the ID "sa_unknown"`}},
		"unknown template and account": {
			values: acctest.Values{"service_account_id": "sa_unknown", "source": map[string]any{"kind": "template", "template_id": "unknown", "is_listed": true}}, want: []string{create, "404"},
		},
		"name taken": {at: "name", want: []string{create, "already exists", "2026-03-01T12:00:00Z", "terraform import ADDRESS"}},
		"401":        {status: 401, want: []string{"AGENTYARD_API_KEY"}},
		"402":        {status: 402, want: []string{"plan does not include"}},
		"403":        {status: 403, want: []string{"Manager"}},
		"429":        {status: 429, want: []string{"requests_per_second"}},
		"500":        {status: 500, want: []string{"unknown outcome", "Apply again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			config := acctest.Values{"name": "n"}
			maps.Copy(config, tc.values)
			if name == "name taken" {
				newComputer(e, map[string]any{"name": "n"})
			}
			want := append(refuseCreation(e, "createComputer", tc.status), tc.want...)
			mustCreateNothing(t, e, e.NewInstance(t, computerType), config).MustFail(t, tc.at, want...)
		})
	}
}

func TestComputer_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e)
	owned := acctest.Values{"name": "robots", "service_account_id": account}
	_, i := e.Created(t, computerType, owned)
	if i.Attribute("owner_id") != account || i.Attribute("owner_principal_kind") != "service" {
		t.Errorf("the state is %s", i.State)
	}
	imported := e.NewInstance(t, computerType)
	mustImport(t, e, imported, i.ID())
	e.Plan(t, imported, owned).MustDo(t, acctest.ActionNone)
	e.Apply(t, i, acctest.Values{"name": "robots"}).MustDo(t, acctest.ActionReplace)
}

// The API key belongs to the service account, so the computer has an owner without any configuration.
func TestComputer_withTheKeyOfAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
	i := p.NewInstance(computerType)
	p.Apply(i, acctest.Values{"name": "mine"}).MustDo(t, acctest.ActionCreate)
	p.Plan(i, acctest.Values{"name": "mine"}).MustDo(t, acctest.ActionNone)
	if i.Attribute("owner_id") != account || i.Attribute("service_account_id") != "" {
		t.Errorf("the state is %s", i.State)
	}
	p.Apply(i, acctest.Values{"name": "renamed"}).MustDo(t, acctest.ActionUpdate)
}

// The new computer can be created before the old computer with the same name is deleted, because their owners differ.
func TestAccComputer_movesUnderAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.Provisioning.Step = time.Millisecond })
	config := func(more string) string {
		return "resource \"agentyard_service_account\" \"team\" {\n  name = \"team\"\n}\n" +
			"resource \"agentyard_computer\" \"moved\" {\n  name = \"build-1\"\n" + more + "  lifecycle {\n    create_before_destroy = true\n  }\n}\n"
	}
	cli := acctest.NewCLI(t, e, config(""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	if own := computers(e); len(own) != 1 {
		t.Fatalf("before: %+v", own)
	}
	cli.Write("main.tf", config("  service_account_id = agentyard_service_account.team.id\n"))
	cli.MustRun("apply", "-auto-approve", "-input=false", "-replace=agentyard_computer.moved")
	cli.MustPlanEmpty()
	if own := computers(e); len(own) != 0 {
		t.Errorf("left of the old owner: %+v", own)
	}
	e.WantRequests(t, "createComputer", 2)
}
