package computer_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func makeComputers(e *acctest.Env, prefix string, quantity int) {
	e.API(http.MethodPost, "/api/v0/computers/bulk", map[string]any{"namePrefix": prefix, "quantity": quantity}, nil)
}

// Members stay when the quantity changes, and those with the highest numbers go first. The plan shows which are new.
func TestFleet_scalesInPlace(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := e.NewInstance(t, fleetType)
	for _, step := range []struct {
		quantity int
		action   acctest.Action
	}{{0, "create"}, {2, "update"}, {2, "none"}, {4, "update"}, {1, "update"}, {0, "update"}, {1, "update"}} {
		before := fleetTexts(t, i, "id")
		e.Apply(t, i, fleetOf(step.quantity)).MustDo(t, step.action)
		stay := min(len(before), step.quantity)
		want, ids := numbered(1, step.quantity), fleetTexts(t, i, "id")
		if !slices.Equal(fleetNames(t, i), want) || !slices.Equal(computerNames(e), want) || !slices.Equal(ids[:stay], before[:stay]) {
			t.Errorf("%d: the emulator holds %v, the state %s", step.quantity, computerNames(e), i.State)
		}
		e.Plan(t, i, fleetOf(step.quantity)).MustDo(t, acctest.ActionNone)
	}
}

func TestFleet_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for _, tc := range []struct {
		attribute string
		value     any
		at, want  string
	}{
		{"name_prefix", "", "name_prefix", "name_prefix must be 1 to 61 characters long"},
		{"name_prefix", strings.Repeat("n", 62), "name_prefix", "name_prefix must be 1 to 61 characters long"},
		{"quantity", -1, "quantity", "quantity must be at least 0, not -1."},
		{"provider_type", "byom", "provider_type", `provider_type must not be "byom". Use agentyard_computer`},
		{"repos", []any{"acme/app"}, "repos[0]", "repos[0] must be an absolute URI"},
		{"service_account_id", "a/b", "service_account_id", "service_account_id must not contain slashes"},
	} {
		config := acctest.Values{"name_prefix": "web", "quantity": 1}
		config[tc.attribute] = tc.value
		e.Plan(t, e.NewInstance(t, fleetType), config).MustInclude(t, tc.at, tc.want)
	}
	mustBeSilent(t, e)
}

// A rule that no API document states is left to the service. Only it knows which value it refused.
func TestComputers_refusedByTheService(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "bulkCreateComputers", Kind: emulator.FaultStatusBeforeCommit, Status: 400})
	e.Apply(t, e.NewInstance(t, fleetType), acctest.Values{"name_prefix": "web", "quantity": 1}).MustFail(t, "", "bulkCreateComputers", "returned 400")
	byom := acctest.Values{"name": "own", "provider_type": "byom", "repos": []any{"https://git.example/a"}}
	e.Apply(t, e.NewInstance(t, computerType), byom).MustFail(t, "provider_type", "createComputer", "returned 400", "repos")
	e.MustNotRead(t, nil, computerType, acctest.Values{"name": strings.Repeat("n", 64)}, "name", "Computer not found")
}

// mustBeSilent fails the test if any request was sent.
func mustBeSilent(t *testing.T, e *acctest.Env) {
	t.Helper()
	check.None(t, "requests", e.Journal().Entries())
}

func TestFleet_prefixTaken(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeComputers(e, "web", 1)
	e.MustNotCreate(t, fleetType, acctest.Values{"name_prefix": "web", "quantity": 1}, "name_prefix", "web-1", "2026-03-01T12:00:00Z", "Raise quantity")
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
	makeComputers(e, "web", 11)
	makeComputers(e, "web-1", 1)
	newComputer(e, map[string]any{"name": "web"})
	e.Clock.Advance(provisioned)
	i := imported(t, e, fleetType, "web")
	config := fleetOf(11)
	config["repos"], config["auto_install_deps"] = []any{"https://git.example/acme/app"}, true
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if !slices.Equal(fleetNames(t, i), numbered(1, 11)) || i.Attribute("provider_type") != "managed-a" {
		t.Errorf("the state is %s", i.State)
	}
	if e.Journal().Count("bulkCreateComputers") != 2 || e.Journal().Count("deleteComputer") != 0 {
		t.Error("computers were created or deleted")
	}
	e.Apply(t, i, config).MustDo(t, acctest.ActionNone)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	check.Is(t, "left", computerNames(e), []string{"web", "web-1-1"})
}

// After an import, a fleet adopts the account that owns its computers, and no other.
func TestFleet_importAdoptsOnlyTheOwner(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	makeComputers(e, "web", 2)
	e.API(http.MethodPost, "/api/v0/computers/bulk", map[string]any{"namePrefix": "web", "quantity": 2, "serviceAccountId": account}, nil)
	e.Clock.Advance(provisioned)
	config := acctest.Values{"name_prefix": "web", "quantity": 3, "service_account_id": account}
	i := imported(t, e, fleetType, "web")
	e.Plan(t, i, config).MustDo(t, acctest.ActionReplace)

	p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
	i = p.NewInstance(fleetType)
	p.Import(i, "web").MustSucceed(t)
	e.Plan(t, i, config).MustDo(t, acctest.ActionUpdate)
}

// Each key learns that another one created the computers that are missing, even if that key had found others missing.
func TestFleet_createdAgainWithAnotherKey(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := fleetOf(2)
	_, config["service_account_id"] = e.ServiceAccountKey()
	_, i := e.Created(t, fleetType, config)
	for _, settings := range []acctest.Values{{"api_key": e.MemberKey("second@agentyard.example", emulator.RoleManager)}, nil} {
		for _, id := range fleetTexts(t, i, "id") {
			e.API(http.MethodDelete, "/api/v0/computers/"+id, nil, nil)
		}
		out := acctest.NewProcess(t, e, settings).Apply(i, config)
		check.Says(t, out.WarningText(), "2 of 2 computers", "It was last read with another API key or key_owner. If that key belongs to another organization, do not apply.")
	}
}

// Deletion protection is about the fleet as a whole.
func TestFleet_protectedFleetChanges(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "f-2")
	config := acctest.Values{"name_prefix": "f", "quantity": 3, "wait_for_active": false, "deletion_protection": true}
	_, i := e.Created(t, fleetType, config)
	e.Clock.Advance(provisioned)
	before := fleetTexts(t, i, "id")
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if after := fleetTexts(t, i, "id"); after[0] != before[0] || after[1] == before[1] || after[2] != before[2] {
		t.Errorf("the computers were %v and are %v: the failed one is replaced", before, after)
	}
	config["quantity"] = 1
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	check.Is(t, "the computers", len(computerNames(e)), 1)
}

// rename renames a computer outside Terraform.
func rename(e *acctest.Env, id, name string) {
	e.API(http.MethodPatch, "/api/v0/computers/"+id, map[string]any{"name": name}, nil)
}

// The service uses a number that is free since the plan.
func TestFleet_savedPlanAfterAComputerLostItsName(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*acctest.Env, string){
		"deleted": func(e *acctest.Env, id string) { e.API(http.MethodDelete, "/api/v0/computers/"+id, nil, nil) },
		"renamed": func(e *acctest.Env, id string) { rename(e, id, "mine") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			p, i := e.Created(t, fleetType, fleetOf(2))
			before := fleetTexts(t, i, "id")
			apply := p.Save(i, fleetOf(3))
			change(e, before[0])
			apply().MustSucceed(t)
			after := fleetTexts(t, i, "id")
			if !slices.Equal(fleetNames(t, i), numbered(1, 3)) || len(after) != 3 || !slices.Equal(after[:2], before) || !slices.Contains(e.IDs("/api/v0/computers", "computers"), after[2]) {
				t.Fatalf("the state holds %v, was %v; the emulator %v", fleetComputers(t, i), before, computers(e))
			}
			e.MustApply(t, i, fleetOf(3))
			e.Plan(t, i, fleetOf(3)).MustDo(t, acctest.ActionNone)
			if !slices.Equal(fleetNames(t, i), numbered(1, 3)) || len(computers(e)) != 3 {
				t.Errorf("the state holds %v; the emulator %v", fleetComputers(t, i), computers(e))
			}
		})
	}
}

// Somebody else uses the planned name between the listing and the create. The state has the computer under its planned name.
func TestFleet_aNameThatWasNotPlanned(t *testing.T) {
	t.Parallel()
	var e *acctest.Env
	var stranger computerJSON
	e = acctest.New(t, acctest.Meanwhile("POST /api/v0/computers/bulk", func(n int) {
		if n == 0 {
			stranger = newComputer(e, map[string]any{"name": "web-2"})
		}
	}))
	i := e.NewInstance(t, fleetType)
	out := e.MustApply(t, i, fleetOf(2))
	if i.Tainted || !slices.Equal(fleetNames(t, i), numbered(1, 2)) || len(fleetTexts(t, i, "id")) != 2 || slices.Contains(fleetTexts(t, i, "id"), stranger.ID) {
		t.Fatalf("%s; the state holds %v", out, fleetComputers(t, i))
	}
	e.Plan(t, i, fleetOf(2)).MustDo(t, acctest.ActionNone)
	if !slices.Equal(computerNames(e), numbered(1, 3)) || len(out.Warnings) > 0 {
		t.Errorf("the emulator holds %v: %s", computerNames(e), out)
	}
}

// A key of the fleet is a slot. A computer that somebody renames stays in its slot, and is deleted like others.
func TestFleet_renamedElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p, i := e.Created(t, fleetType, fleetOf(3))
	ids := fleetTexts(t, i, "id")
	rename(e, ids[0], "mine")
	e.Journal().Reset()
	if out := e.Plan(t, i, fleetOf(3)); out.Action != acctest.ActionNone || len(out.Warnings) > 0 || len(e.Journal().Entries()) != 1 {
		t.Errorf("%s after %d requests", out, len(e.Journal().Entries()))
	}
	// A new one gets the lowest free number, and the slot that was planned.
	e.MustApply(t, i, fleetOf(4))
	there := append([]string{"mine"}, numbered(1, 3)...)
	if got := fleetTexts(t, i, "id"); !slices.Equal(fleetNames(t, i), numbered(1, 4)) || len(got) != 4 || !slices.Equal(got[:3], ids) || !slices.Equal(computerNames(e), there) {
		t.Errorf("the emulator holds %v, the state %v", computerNames(e), fleetComputers(t, i))
	}
	e.Plan(t, i, fleetOf(4)).MustDo(t, acctest.ActionNone)
	p.Destroy(i).MustSucceed(t)
	check.None(t, "left", computerNames(e))
}

// Terraform counts no destruction if a fleet shrinks, so the plan names the computers that go. It is silent if it cannot know them.
func TestFleet_namesTheComputersThatGo(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "web-2")
	_, i := e.Created(t, fleetType, fleetOf(5))
	for quantity, want := range map[int]string{
		5: "", 6: "", // web-2 is replaced, or stays if it recovers.
		4: "deletes 1 of its computers: web-2.",
		3: `An apply that keeps the fleet "web" deletes 2 of its computers: web-2, web-5. Terraform shows this as a change`,
		0: `deletes 5 of its computers: web-1, web-2, web-3, web-4, web-5.`,
	} {
		out := e.Plan(t, i.Clone(), fleetOf(quantity))
		if text := out.WarningText(); strings.Contains(text, "Fleet will shrink") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%d: %s", quantity, out)
		}
	}
	before := fleetTexts(t, i, "id")
	e.MustApply(t, i, fleetOf(3))
	if after := fleetTexts(t, i, "id"); len(after) != 3 || after[0] != before[0] || after[1] != before[2] || after[2] != before[3] {
		t.Errorf("the computers were %v and are %v", before, after)
	}
}
