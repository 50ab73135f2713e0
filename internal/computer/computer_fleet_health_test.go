package computer_test

import (
	"fmt"
	"slices"
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

// provisioned is longer than the set-up of a computer takes.
const provisioned = time.Minute

// failSetUp makes the set-up of the next computer of a name fail.
func failSetUp(e *acctest.Env, name string) {
	e.FailProvisioning(emulator.FailStep{Name: name, Step: "create-computer", Error: "the disk is full"})
}

// breakNow breaks the active computer of a name.
func breakNow(t *testing.T, e *acctest.Env, name string) {
	t.Helper()
	for _, c := range computers(e) {
		if c.Name == name {
			if err := e.Break(c.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func texts(out acctest.Outcome) string {
	var all []string
	for _, d := range out.Warnings {
		all = append(all, d.Summary+": "+d.Detail)
	}
	return strings.Join(all, "\n")
}

func TestAccFleet_replacesWhatFailedToProvision(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	cfg := e.Config(fleetConfig(3, ""))
	path := func(index int) tfjsonpath.Path { return tfjsonpath.New("computers").AtSliceIndex(index) }
	staysAs := func(index int, name string) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(fleetAddress, path(index).AtMapKey("name"), knownvalue.StringExact(name))
	}
	var before []string
	ids := func() []string {
		var all []string
		for _, c := range computers(e) {
			all = append(all, c.Name+" "+c.ID)
		}
		slices.Sort(all)
		return all
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{PreConfig: func() { failSetUp(e, "web-2") }, Config: cfg, ExpectNonEmptyPlan: true, Check: func(*terraform.State) error {
				before = ids()
				return nil
			}},
			{
				PreConfig: e.Journal().Reset,
				Config:    cfg,
				ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionUpdate,
					staysAs(0, "web-1"), plancheck.ExpectUnknownValue(fleetAddress, path(1)), staysAs(2, "web-3")),
				ConfigStateChecks: []statecheck.StateCheck{
					fleetHas("web-1", "web-2", "web-3"),
					statecheck.ExpectKnownValue(fleetAddress, path(1).AtMapKey("status"), knownvalue.StringExact("active")),
				},
				Check: func(*terraform.State) error {
					after := ids()
					if len(after) != 3 || after[0] != before[0] || after[1] == before[1] || after[2] != before[2] {
						return fmt.Errorf("the computers were %v and are %v", before, after)
					}
					if e.Journal().Count("deleteComputer") != 1 || e.Journal().Count("bulkCreateComputers") != 1 {
						return fmt.Errorf("%d deletions and %d creations", e.Journal().Count("deleteComputer"), e.Journal().Count("bulkCreateComputers"))
					}
					return nil
				},
			},
		},
	})
}

func TestFleet_replacesOnlyWhatWasNeverActive(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := newFleet(t, e)
	failSetUp(e, "web-2")
	if out := mustApply(t, e, i, fleetOf(3)); i.Tainted || !strings.Contains(texts(out), "Those whose provisioning failed are replaced by the next apply") {
		t.Fatalf("created: %s", texts(out))
	}
	breakNow(t, e, "web-3")

	for range 2 { // Every refresh reports it.
		out := acctest.NewProcess(t, e, nil).Plan(i, fleetOf(3))
		for _, want := range []string{
			`2 of 3 computers of the fleet "web" have the status "error"`,
			`step "Create computer" failed: the disk is full. It never became active: the next apply replaces it.`,
			"It was active before or was imported, so it is left as it is",
			`1 computer of the fleet "web" failed to provision and was never active: web-2. The apply replaces it.`,
		} {
			if !strings.Contains(texts(out), want) {
				t.Errorf("no %q in\n%s", want, texts(out))
			}
		}
	}
	if out := mustApply(t, e, i, fleetOf(3)); out.Action != "update" {
		t.Errorf("healing: %s", out)
	}
	if got := fleetComputers(i, "status"); !slices.Equal(got, []string{"active", "active", "error"}) {
		t.Errorf("after healing the statuses are %v", got)
	}
	out := acctest.NewProcess(t, e, nil).Plan(i, fleetOf(3))
	if text := texts(out); out.Action != "none" || !strings.Contains(text, `1 of 3 computers`) || strings.Contains(text, "never") {
		t.Errorf("afterwards the plan is %s:\n%s", out.Action, text)
	}
}

func TestFleet_keepsWhatFailedIfTold(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := newFleet(t, e)
	keeping := fleetOf(2)
	keeping["replace_failed"] = false
	failSetUp(e, "web-1")
	if out := mustApply(t, e, i, keeping); !strings.Contains(texts(out), "As replace_failed is false, none is replaced") {
		t.Errorf("created: %s", texts(out))
	}
	out := acctest.NewProcess(t, e, nil).Plan(i, keeping)
	if out.Action != "none" || !strings.Contains(texts(out), "It never became active, and is left as it is because replace_failed is false.") {
		t.Errorf("the plan is %s:\n%s", out.Action, texts(out))
	}
	// Told otherwise later, the fleet still knows which ones were never active.
	if out := mustApply(t, e, i, fleetOf(2)); out.Action != "update" || !slices.Equal(fleetComputers(i, "status"), []string{"active", "active"}) {
		t.Errorf("%s; the statuses are %v", out, fleetComputers(i, "status"))
	}
}

func TestFleet_whatFailedGoesFirst(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := newFleet(t, e)
	failSetUp(e, "web-1")
	mustApply(t, e, i, fleetOf(3))
	out := mustApply(t, e, i, fleetOf(2))
	if got := fleetComputers(i, "name"); !slices.Equal(got, []string{"web-2", "web-3"}) || len(computers(e)) != 2 || !strings.Contains(texts(out), "never active: web-1. The apply deletes it.") {
		t.Errorf("the fleet is %v: %s", got, texts(out))
	}
}

// Nobody waited for these: a refresh sees them active, or failed.
func TestFleet_withoutWaitingARefreshTells(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := newFleet(t, e)
	config := fleetOf(2)
	config["wait_for_active"] = false
	failSetUp(e, "web-1")
	mustApply(t, e, i, config)
	if out := acctest.NewProcess(t, e, nil).Plan(i, config); out.Action != "none" {
		t.Errorf("while they are provisioned the plan is %s", out)
	}
	e.Clock.Advance(provisioned)
	mustApply(t, e, i, config) // Replaces web-1, and has seen web-2 active.
	e.Clock.Advance(provisioned)
	mustApply(t, e, i, config)
	breakNow(t, e, "web-1")
	breakNow(t, e, "web-2")
	if out := acctest.NewProcess(t, e, nil).Plan(i, config); out.Action != "none" || !strings.Contains(texts(out), "2 of 2") {
		t.Errorf("the plan is %s:\n%s", out.Action, texts(out))
	}
}

// Somebody may have worked on a computer that was imported.
func TestFleet_importedComputersAreNotReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "web-1")
	makeComputers(e, "web", "", 2)
	e.Clock.Advance(provisioned)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(fleetType)
	if out := p.Import(i, "web"); len(out.Errors) > 0 {
		t.Fatal(out)
	}
	config := acctest.Values{"name_prefix": "web", "quantity": 2}
	if out := acctest.NewProcess(t, e, nil).Plan(i, config); out.Action != "none" || !strings.Contains(texts(out), "or was imported") {
		t.Errorf("the plan is %s:\n%s", out.Action, texts(out))
	}
}

func TestFleet_aFailedDeletionMakesNothing(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := newFleet(t, e)
	failSetUp(e, "web-1")
	mustApply(t, e, i, fleetOf(2))
	failed := fleetIDs(i)[0]
	e.Faults().Add(emulator.Fault{Operation: "deleteComputer", Kind: emulator.FaultStatusBeforeCommit, Status: 403})
	out := acctest.NewProcess(t, e, nil).Apply(i, fleetOf(2))
	if len(out.Errors) != 1 || fleetIDs(i)[0] != failed || len(computers(e)) != 2 {
		t.Fatalf("%s; the state holds %v", out, fleetIDs(i))
	}
	if out := mustApply(t, e, i, fleetOf(2)); out.Action != "update" || fleetIDs(i)[0] == failed || len(computers(e)) != 2 {
		t.Errorf("the next apply: %s; the state holds %v", out, fleetIDs(i))
	}
}

// What was deleted is out of the state although nothing could be made in its place.
func TestFleet_aFailedCreationAfterDeletions(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := newFleet(t, e)
	failSetUp(e, "web-1")
	mustApply(t, e, i, fleetOf(2))
	e.Faults().Add(emulator.Fault{Operation: "bulkCreateComputers", Kind: emulator.FaultStatusBeforeCommit, Status: 402})
	out := acctest.NewProcess(t, e, nil).Apply(i, fleetOf(2))
	if len(out.Errors) != 1 || !slices.Equal(fleetComputers(i, "name"), []string{"web-2"}) || i.Tainted {
		t.Fatalf("%s; the state holds %v", out, fleetComputers(i, "name"))
	}
	mustApply(t, e, i, fleetOf(2))
	if got := fleetComputers(i, "name"); !slices.Equal(got, []string{"web-1", "web-2"}) {
		t.Errorf("the state holds %v", got)
	}
}
