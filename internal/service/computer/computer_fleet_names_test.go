package computer_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// rename renames a computer outside Terraform.
func rename(e *acctest.Env, id, name string) {
	e.API(http.MethodPatch, "/api/v0/computers/"+id, map[string]any{"name": name}, nil)
}

// mustConverge applies twice, of which the second changes nothing, and then destroys the fleet.
func mustConverge(t *testing.T, e *acctest.Env, i *acctest.Instance, quantity int) {
	t.Helper()
	e.MustApply(t, i, fleetOf(quantity))
	e.Plan(t, i, fleetOf(quantity)).MustDo(t, acctest.ActionNone)
	if want := numbered(1, quantity); !slices.Equal(computerNames(e), want) || !slices.Equal(fleetNames(i), want) {
		t.Errorf("the emulator holds %v, the state %v", computerNames(e), fleetComputers(i))
	}
	e.MustApply(t, i, nil)
	if left := computerNames(e); len(left) > 0 {
		t.Errorf("left after the destroy: %v", left)
	}
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
			before := fleetIDs(i)
			apply := p.Save(i, fleetOf(3))
			change(e, before[0])
			apply().MustSucceed(t)
			after := fleetIDs(i)
			if !slices.Equal(fleetNames(i), numbered(1, 3)) || len(after) != 3 || !slices.Equal(after[:2], before) || !slices.Contains(computerIDs(e), after[2]) {
				t.Fatalf("the state holds %v, was %v; the emulator %v", fleetComputers(i), before, computers(e))
			}
			if !slices.Contains(computerNames(e), "web-3") {
				t.Errorf("the emulator holds %v", computerNames(e))
			}
			mustConverge(t, e, i, 3)
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
	if i.Tainted || !slices.Equal(fleetNames(i), numbered(1, 2)) || len(fleetIDs(i)) != 2 || slices.Contains(fleetIDs(i), stranger.ID) {
		t.Fatalf("%s; the state holds %v", out, fleetComputers(i))
	}
	second := fleetIDs(i)[1]
	acctest.Says(t, out.WarningText(), "Cannot rename computer", fmt.Sprintf(`Computer web-2 (%s) of the fleet "web" is named "web-3" at the service.`, second), `Another computer is named "web-2". Rename that computer at the service`)

	e.Plan(t, i, fleetOf(2)).MustFail(t, "computers", "Name of a Fleet Computer Is Taken", second, `"web-3"`, stranger.ID, "Rename that computer at the service, then plan again.")
	rename(e, stranger.ID, "theirs")
	e.MustApply(t, i, fleetOf(2)).MustDo(t, acctest.ActionUpdate)
	if !slices.Equal(computerNames(e), []string{"theirs", "web-1", "web-2"}) || fleetIDs(i)[1] != second {
		t.Errorf("the emulator holds %v, the state %v", computerNames(e), fleetComputers(i))
	}
	e.Plan(t, i, fleetOf(2)).MustDo(t, acctest.ActionNone)
}

func TestFleet_renamedElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p, i := e.Created(t, fleetType, fleetOf(3))
	ids := fleetIDs(i)
	rename(e, ids[0], "mine")
	e.Journal().Reset()
	out := e.Plan(t, i, fleetOf(3))
	out.MustDo(t, acctest.ActionUpdate)
	acctest.Says(t, out.WarningText(), `1 of 3 computers of the fleet "web" has another name at the service:`, fmt.Sprintf(`- web-1 (%s) is named "mine"`, ids[0]), "The next apply restores the names of computers that stay in the fleet.")
	if !slices.Equal(fleetNames(i), numbered(1, 3)) || !slices.Equal(fleetIDs(i), ids) || len(e.Journal().Entries()) != 1 {
		t.Errorf("the state holds %v after %d requests", fleetComputers(i), len(e.Journal().Entries()))
	}
	e.MustApply(t, i, fleetOf(3))
	if !slices.Equal(computerNames(e), numbered(1, 3)) || !slices.Equal(fleetIDs(i), ids) {
		t.Errorf("the emulator holds %v, the state %v", computerNames(e), fleetComputers(i))
	}
	e.Plan(t, i, fleetOf(3)).MustDo(t, acctest.ActionNone)

	// One has the name of another, and a new one gets the lowest free number.
	rename(e, ids[2], "mine")
	rename(e, ids[0], "web-3")
	e.MustApply(t, i, fleetOf(4))
	if got := fleetIDs(i); !slices.Equal(computerNames(e), numbered(1, 4)) || len(got) != 4 || !slices.Equal(got[:3], ids) {
		t.Errorf("the emulator holds %v, the state %v", computerNames(e), fleetComputers(i))
	}

	// Renamed computers are deleted like others, also without a refresh.
	rename(e, fleetIDs(i)[3], "mine")
	e.MustApply(t, i, fleetOf(3))
	rename(e, ids[0], "mine")
	e.Plan(t, i, fleetOf(3)).MustDo(t, acctest.ActionUpdate)
	p.Destroy(i).MustSucceed(t)
	if left := computerNames(e); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A computer keeps its name in the fleet while others are missing or failed, and after an import.
func TestFleet_renamedBesideMissingAndFailed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeComputers(e, "web", "", 2)
	e.Clock.Advance(provisioned)
	i := e.NewInstance(t, fleetType)
	mustImport(t, e, i, "web")
	failSetUp(e, "web-3")
	e.Apply(t, i, fleetOf(3)).MustFail(t, "", "Fleet Computers Are Not Active")
	ids := fleetIDs(i)
	rename(e, ids[0], "mine")
	rename(e, ids[2], "broken")
	deleteComputers(e, "web-2")
	out := e.Plan(t, i, fleetOf(3))
	acctest.Says(t, out.WarningText(), "no longer exists: web-2", `is named "mine"`, `is named "broken"`)
	if !slices.Equal(fleetStatuses(i), []string{"active", "missing", "error"}) {
		t.Errorf("the statuses are %v", fleetStatuses(i))
	}
	e.Journal().Reset()
	mustConverge(t, e, i, 3)
	if n := e.Journal().Count("updateComputer"); n != 1 {
		t.Errorf("%d renames, want 1: the failed computer is replaced", n)
	}
}

// Two computers with each other's names need a temporary name, which the error says.
func TestFleet_swappedNames(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(2))
	ids := fleetIDs(i)
	for _, step := range []struct{ id, name string }{{ids[0], "mine"}, {ids[1], "web-1"}, {ids[0], "web-2"}} {
		rename(e, step.id, step.name)
	}
	e.MustApply(t, i, fleetOf(2))
	if !slices.Equal(fleetIDs(i), ids) {
		t.Errorf("the state holds %v", fleetComputers(i))
	}
	mustConverge(t, e, i, 2)
}

// The service refuses to rename. The next apply tries again.
func TestFleet_renameFails(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(2))
	rename(e, fleetIDs(i)[1], "mine")
	refuse(e, "updateComputer", http.StatusForbidden, 1)
	out := e.Apply(t, i, fleetOf(3))
	out.MustFail(t, "", "Cannot rename computer", `of the fleet "web" is named "mine" at the service`, "updateComputer", "403")
	if !slices.Equal(fleetStatuses(i), []string{"active", "active", "missing"}) || len(computers(e)) != 2 {
		t.Errorf("the state holds %v", fleetComputers(i))
	}
	mustConverge(t, e, i, 3)
}

// The plan knows that the fleet creates nothing while another computer has one of its names.
func TestFleet_planKnowsNamesOfOthers(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(2))
	stranger := newComputer(e, map[string]any{"name": "web-3"})
	e.Journal().Reset()
	e.Plan(t, i, fleetOf(3)).MustFail(t, "name_prefix", "Cannot scale up computer fleet", stranger.ID, "web-3", "terraform state rm ADDRESS")
	if n := len(e.Journal().Entries()); n != 2 {
		t.Errorf("%d requests, want the refresh and another look", n)
	}
	e.Plan(t, i, fleetOf(1)).MustDo(t, acctest.ActionUpdate)
	e.Plan(t, i, acctest.Values{"name_prefix": "app", "quantity": 3}).MustDo(t, acctest.ActionReplace)
	rename(e, stranger.ID, "theirs")
	e.Journal().Reset()
	e.Plan(t, i, fleetOf(3)).MustDo(t, acctest.ActionUpdate)
	if n := len(e.Journal().Entries()); n != 1 {
		t.Errorf("%d requests, want the refresh only", n)
	}
}
