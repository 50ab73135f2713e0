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
	return acctest.PlannedThenEmpty(fleetAddress, action, checks...)
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

// emulatorHas returns a Check.
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
	// The plan shows which computers stay and which are new.
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
				// The service does not return repos and auto_install_deps. An import adopts them from the configuration.
				ImportStateVerifyIgnore: []string{"repos", "auto_install_deps", "timeouts"},
			},
			// Changes to attributes of the provider send no request.
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

func TestFleet_createOnlyAttributesReplace(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(2))
	for _, step := range []struct {
		attribute string
		value     any
		action    acctest.Action
	}{
		{"provider_type", "managed-a", "none"},
		{"provider_type", "managed-b", "replace"},
		{"provider_type", nil, "none"},
		{"repos", []any{"https://git.example/acme/app"}, "replace"},
		{"repos", []any{"https://git.example/acme/tools"}, "replace"},
		{"auto_install_deps", true, "replace"},
		{"auto_install_deps", false, "replace"},
		{"name_prefix", "app", "replace"},
	} {
		config := fleetOf(2)
		config[step.attribute] = step.value
		e.Apply(t, i, config).MustDo(t, step.action)
		prefix := config["name_prefix"].(string)
		if want := []string{prefix + "-1", prefix + "-2"}; !slices.Equal(fleetNames(i), want) || !slices.Equal(computerNames(e), want) || i.ID() != prefix {
			t.Errorf("%s: the emulator holds %v, the state %s", step.attribute, computerNames(e), i.State)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
}

// A deleted computer is missing in the state until an apply creates it.
func TestFleet_deletedElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(3))
	for _, tc := range []struct {
		lost     []string
		statuses []string
		says     string
	}{
		{[]string{"web-2"}, []string{"active", "missing", "active"}, `1 of 3 computers of the fleet "web" no longer exists: web-2.`},
		{numbered(1, 3), []string{"missing", "missing", "missing"}, `3 of 3 computers of the fleet "web" no longer exist: web-1, web-2, web-3.`},
	} {
		deleteComputers(e, tc.lost...)
		out := e.Plan(t, i, fleetOf(3))
		if acctest.Says(t, out.WarningText(), tc.says); out.Action != acctest.ActionUpdate || !slices.Equal(fleetStatuses(i), tc.statuses) {
			t.Errorf("%s; the statuses are %v", out, fleetStatuses(i))
		}
		e.Apply(t, i, fleetOf(3)).MustDo(t, acctest.ActionUpdate)
		if !slices.Equal(fleetNames(i), numbered(1, 3)) || len(fleetIDs(i)) != 3 || !slices.Equal(computerNames(e), numbered(1, 3)) {
			t.Errorf("the emulator holds %v, the state %s", computerNames(e), i.State)
		}
		e.Plan(t, i, fleetOf(3)).MustDo(t, acctest.ActionNone)
	}
	deleteComputers(e, numbered(1, 3)...)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
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

func TestFleet_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var many []any
	for range 21 {
		many = append(many, "https://git.example/a")
	}
	repo := "repos[0]"
	for _, tc := range []struct {
		attribute string
		value     any
		at, want  string
	}{
		{"name_prefix", nil, "name_prefix", "required"},
		{"quantity", nil, "quantity", "required"},
		{"name_prefix", "", "name_prefix", "name_prefix must be 1 to 58 characters long"},
		{"name_prefix", strings.Repeat("n", 59), "name_prefix", "name_prefix must be 1 to 58 characters long"},
		{"name_prefix", "a/b", "name_prefix", "name_prefix must be lowercase"},
		{"name_prefix", "Web", "name_prefix", "name_prefix must be lowercase"},
		{"name_prefix", "web-", "name_prefix", "name_prefix must be lowercase"},
		{"quantity", -1, "quantity", "quantity value must be at least 0"},
		{"provider_type", "byom", "provider_type", `provider_type must not be "byom". Use agentyard_computer`},
		{"repos", many, "repos", "repos list must contain at most 20 elements"},
		{"repos", []any{"acme/app"}, repo, "repos[0] must be an absolute URI"},
		{"repos", []any{"https://git.example/" + strings.Repeat("a", 2048)}, repo, "repos[0] must be at most 2048 characters long"},
		{"service_account_id", "a/b", "service_account_id", "service_account_id must not contain slashes"},
		{"timeouts", map[string]any{"update": "soon"}, "timeouts.update", "Valid time units"},
	} {
		config := acctest.Values{"name_prefix": "web", "quantity": 1}
		config[tc.attribute] = tc.value
		e.Plan(t, e.NewInstance(t, fleetType), config).MustInclude(t, tc.at, tc.want)
	}
	mustBeSilent(t, e)
}

// mustBeSilent fails the test if any request was sent.
func mustBeSilent(t *testing.T, e *acctest.Env) {
	t.Helper()
	if requests := e.Journal().Entries(); len(requests) > 0 {
		t.Errorf("the service was asked: %+v", requests)
	}
}

func TestFleet_errorsOfTheService(t *testing.T) {
	t.Parallel()
	const create = "Cannot create computer fleet"
	for name, tc := range map[string]struct {
		attribute, value string
		status           int
		want             []string
		at               string
	}{
		"unknown provider": {attribute: "provider_type", value: "managed-z", at: "provider_type", want: []string{"Provider Not Available", "managed-z", "managed-a, managed-b"}},
		"unknown account":  {attribute: "service_account_id", value: "sa_unknown", at: "service_account_id", want: []string{create, "listComputers", "404", `No service account with the ID "sa_unknown"`}},
		"names taken":      {at: "name_prefix", want: []string{create, "web-1", "2026-03-01T12:00:00Z", "terraform import ADDRESS web", "Raise quantity"}},
		"401":              {status: 401, want: []string{"AGENTYARD_API_KEY"}},
		"402":              {status: 402, want: []string{"plan does not include"}},
		"403":              {status: 403, want: []string{"Manager"}},
		"404":              {status: 404, want: []string{"check the IDs"}},
		"409":              {status: 409, want: []string{"Resolve the conflict"}},
		"429":              {status: 429, want: []string{"requests_per_second"}},
		"500":              {status: 500, want: []string{"unknown outcome", "Apply again"}},
		"503":              {status: 503, want: []string{"unknown outcome", "Apply again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			config := acctest.Values{"name_prefix": "web", "quantity": 1}
			if tc.attribute != "" {
				config[tc.attribute] = tc.value
			}
			if name == "names taken" {
				makeComputers(e, "web", "", 1)
			}
			want := append(refuseCreation(e, "bulkCreateComputers", tc.status), tc.want...)
			mustCreateNothing(t, e, e.NewInstance(t, fleetType), config).MustFail(t, tc.at, want...)
		})
	}
}

// refuseCreation makes the service reject the next create with a status, unless the status is 0. It returns what the error
// must contain.
func refuseCreation(e *acctest.Env, operation string, status int) []string {
	switch status {
	case 0:
		return nil
	case http.StatusTooManyRequests:
		e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultRateLimited, Times: -1})
	default:
		refuse(e, operation, status, 1)
	}
	return []string{operation, fmt.Sprint(status)}
}

// mustCreateNothing fails the test unless a create fails and leaves nothing behind.
func mustCreateNothing(t *testing.T, e *acctest.Env, i *acctest.Instance, config acctest.Values) acctest.Outcome {
	t.Helper()
	before := len(computers(e))
	out := e.Apply(t, i, config)
	if after := len(computers(e)); after != before || !i.State.IsNull() {
		t.Errorf("%d computers, were %d; the state is %s", after, before, i.State)
	}
	return out
}

func TestFleet_importTakesAllOfTheNameAndAdopts(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeComputers(e, "web", "", 11)
	makeComputers(e, "web-1", "", 1)
	newComputer(e, map[string]any{"name": "web"})
	e.Clock.Advance(provisioned)
	i := e.NewInstance(t, fleetType)
	mustImport(t, e, i, "web")
	config := fleetOf(11)
	config["repos"], config["auto_install_deps"] = []any{"https://git.example/acme/app"}, true
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if !slices.Equal(fleetNames(i), numbered(1, 11)) || i.Attribute("provider_type") != "managed-a" {
		t.Errorf("the state is %s", i.State)
	}
	if e.Journal().Count("bulkCreateComputers") != 2 || e.Journal().Count("deleteComputer") != 0 {
		t.Error("computers were created or deleted")
	}
	e.Apply(t, i, config).MustDo(t, acctest.ActionNone)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	if left := computerNames(e); !slices.Equal(left, []string{"web", "web-1-1"}) {
		t.Errorf("left: %v", left)
	}
}

func TestFleet_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e)
	i := e.NewInstance(t, fleetType)
	for n, step := range []struct {
		quantity int
		account  any
		action   acctest.Action
		id       string
		own      int // Computers of the API key's owner.
	}{
		{0, nil, "create", "web", 0}, {2, account, "replace", account + "/web", 0}, {2, nil, "replace", "web", 2}, {2, account, "replace", account + "/web", 0},
	} {
		config := acctest.Values{"name_prefix": "web", "quantity": step.quantity, "service_account_id": step.account}
		e.Apply(t, i, config).MustDo(t, step.action)
		if i.ID() != step.id || len(computers(e)) != step.own {
			t.Errorf("step %d: the state is %s, and there are %+v", n, i.State, computers(e))
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
}
