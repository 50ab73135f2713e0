package computer_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

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
			before := fleetIDs(i)
			apply := p.Save(i, fleetOf(3))
			change(e, before[0])
			apply().MustSucceed(t)
			after := fleetIDs(i)
			if !slices.Equal(fleetNames(i), numbered(1, 3)) || len(after) != 3 || !slices.Equal(after[:2], before) || !slices.Contains(computerIDs(e), after[2]) {
				t.Fatalf("the state holds %v, was %v; the emulator %v", fleetComputers(i), before, computers(e))
			}
			e.MustApply(t, i, fleetOf(3))
			e.Plan(t, i, fleetOf(3)).MustDo(t, acctest.ActionNone)
			if !slices.Equal(fleetNames(i), numbered(1, 3)) || len(computers(e)) != 3 {
				t.Errorf("the state holds %v; the emulator %v", fleetComputers(i), computers(e))
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
	if i.Tainted || !slices.Equal(fleetNames(i), numbered(1, 2)) || len(fleetIDs(i)) != 2 || slices.Contains(fleetIDs(i), stranger.ID) {
		t.Fatalf("%s; the state holds %v", out, fleetComputers(i))
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
	ids := fleetIDs(i)
	rename(e, ids[0], "mine")
	e.Journal().Reset()
	if out := e.Plan(t, i, fleetOf(3)); out.Action != acctest.ActionNone || len(out.Warnings) > 0 || len(e.Journal().Entries()) != 1 {
		t.Errorf("%s after %d requests", out, len(e.Journal().Entries()))
	}
	// A new one gets the lowest free number, and the slot that was planned.
	e.MustApply(t, i, fleetOf(4))
	if got := fleetIDs(i); !slices.Equal(fleetNames(i), numbered(1, 4)) || len(got) != 4 || !slices.Equal(got[:3], ids) || !slices.Equal(computerNames(e), []string{"mine", "web-1", "web-2", "web-3"}) {
		t.Errorf("the emulator holds %v, the state %v", computerNames(e), fleetComputers(i))
	}
	e.Plan(t, i, fleetOf(4)).MustDo(t, acctest.ActionNone)
	p.Destroy(i).MustSucceed(t)
	if left := computerNames(e); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
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
	before := fleetIDs(i)
	e.MustApply(t, i, fleetOf(3))
	if after := fleetIDs(i); len(after) != 3 || after[0] != before[0] || after[1] != before[2] || after[2] != before[3] {
		t.Errorf("the computers were %v and are %v", before, after)
	}
}
