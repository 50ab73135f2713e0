package computer_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// fleetComputers returns the computers in a fleet's state by name.
func fleetComputers(t *testing.T, i *acctest.Instance) map[string]any {
	t.Helper()
	fleet, _ := acctest.Plain(t, i.State).(map[string]any)
	computers, _ := fleet["computers"].(map[string]any)
	return computers
}

// fleetNames returns the names in the state by number.
func fleetNames(t *testing.T, i *acctest.Instance) []string {
	t.Helper()
	return slices.SortedFunc(maps.Keys(fleetComputers(t, i)), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
}

// fleetTexts returns an attribute of each computer that has it, ordered by name.
func fleetTexts(t *testing.T, i *acctest.Instance, attribute string) (texts []string) {
	t.Helper()
	for _, name := range fleetNames(t, i) {
		if text, has := fleetComputers(t, i)[name].(map[string]any)[attribute].(string); has {
			texts = append(texts, text)
		}
	}
	return texts
}

func fleetOf(quantity int) acctest.Values {
	return acctest.Values{"name_prefix": "web", "quantity": quantity, "timeouts": map[string]any{"create": "2m", "update": "2m"}}
}

func numbered(from, to int) []string {
	var names []string
	for n := from; n <= to; n++ {
		names = append(names, fmt.Sprint("web-", n))
	}
	return names
}

// The second apply replaces a computer that failed to provision.
func TestFleet_faultMatrixOfHealing(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "web-2")
	keeping := fleetOf(2)
	keeping["replace_failed"] = false
	acctest.Matrix{
		Type: fleetType, Env: e, Steps: []acctest.Values{keeping, fleetOf(2)},
		Live: func(e *acctest.Env) []string { return e.IDs("/api/v0/computers", "computers") },
	}.Run(t)
}

func TestFleet_aFailedDeletionLosesNoOther(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(30))
	ids := fleetTexts(t, i, "id")
	refuse := func(id string) {
		e.Faults().Add(emulator.Fault{Operation: "deleteComputer", Kind: emulator.FaultStatusBeforeCommit, Status: 403, Times: -1, Match: id})
	}

	refuse(ids[19])
	refuse(ids[24])
	out := e.Apply(t, i, fleetOf(10))
	if text := out.Text(); len(out.Errors) != 1 || !strings.Contains(text, "web-20, web-25") || !strings.Contains(text, "deleteComputer") || !strings.Contains(text, "The next apply tries again") {
		t.Fatal(out)
	}
	if want := append(numbered(1, 10), "web-20", "web-25"); !slices.Equal(fleetNames(t, i), want) || len(computers(e)) != len(want) {
		t.Errorf("the state holds %v, the emulator %d", fleetNames(t, i), len(computers(e)))
	}
	e.Faults().Clear()
	if out := e.MustApply(t, i, fleetOf(10)); out.Action != acctest.ActionUpdate || len(computers(e)) != 10 {
		t.Errorf("%s, %d computers are left", out, len(computers(e)))
	}

	refuse(ids[2])
	if out := e.Apply(t, i, nil); len(out.Errors) != 1 || !slices.Equal(fleetNames(t, i), []string{"web-3"}) || len(computers(e)) != 1 {
		t.Errorf("%s; the state holds %v, the emulator %d", out, fleetNames(t, i), len(computers(e)))
	}
	e.Faults().Clear()
	e.MustApply(t, i, nil)
	check.None(t, "left", computers(e))
}

func TestFleet_shortfallIsMadeUp(t *testing.T) {
	t.Parallel()
	const message = "the provider has no capacity left"
	e := acctest.New(t)
	i := e.NewInstance(t, fleetType)

	e.FailBulkAfter(0, message)
	out := e.Apply(t, i, fleetOf(5))
	if !strings.Contains(out.Text(), message) || !i.State.IsNull() || len(computers(e)) != 0 {
		t.Fatalf("none made: %s; the state is %s", out, i.State)
	}

	e.FailBulkAfter(3, message)
	out = e.MustApply(t, i, fleetOf(5))
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0].Detail, "2 of 5") || !strings.Contains(out.Warnings[0].Detail, message) || i.Tainted {
		t.Fatalf("some made: %s", out)
	}
	first := fleetTexts(t, i, "id")
	if len(first) != 3 || len(computers(e)) != 3 || !slices.Equal(fleetTexts(t, i, "status"), []string{"active", "active", "active", "missing", "missing"}) {
		t.Fatalf("the state holds %v, the emulator %d", fleetComputers(t, i), len(computers(e)))
	}

	e.FailBulkAfter(1, message)
	out = e.Apply(t, i, fleetOf(5))
	if out.MustFail(t, "", "Fleet is short of computers", "1 of 5 computers", message, "The next apply creates the missing computers."); out.Action != acctest.ActionUpdate {
		t.Fatalf("one more: %s", out)
	}
	check.Is(t, "the statuses, after a wait for the one", fleetTexts(t, i, "status"), []string{"active", "active", "active", "active", "missing"})

	if out = e.MustApply(t, i, fleetOf(5)); out.Action != acctest.ActionUpdate {
		t.Errorf("the rest: %s", out)
	}
	got := fleetTexts(t, i, "id")
	if !slices.Equal(got[:3], first) || !slices.Equal(fleetNames(t, i), numbered(1, 5)) || len(computers(e)) != 5 {
		t.Errorf("the state holds %v, was %v; the emulator %d", got, first, len(computers(e)))
	}
	e.Plan(t, i, fleetOf(5)).MustDo(t, acctest.ActionNone)
}

func TestFleet_aWaitThatEndsTooSoonDoesNotTaint(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.Provisioning.Step = 1e12 })
	i := e.NewInstance(t, fleetType)
	out := e.MustApply(t, i, fleetOf(2))
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0].Detail, `still "provisioning" after 2m`) || !strings.Contains(out.Warnings[0].Detail, "continues at the service") || i.Tainted {
		t.Fatal(out)
	}
	if waited := e.Clock.Now().Sub(acctest.Start); waited.Minutes() > 3 {
		t.Errorf("the wait of 2m took %v", waited)
	}
	out = e.Apply(t, i, fleetOf(3))
	out.MustFail(t, "", "Fleet computers are not active", "Of 3 computers, 3 are not active",
		"They are kept in the state. The next apply waits for computers that are still provisioning. To allow more time, raise create or update in the timeouts block.")
}

// Without a look, the wait knows nothing new, so what the creation returned stays.
func TestFleet_aWaitWithoutALookErasesNothing(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Refuse("getComputer", http.StatusForbidden, -1)
	i := e.NewInstance(t, fleetType)
	out := acctest.NewProcess(t, e, nil).Apply(i, fleetOf(1))
	mustSay(t, out, acctest.ActionCreate, "Fleet computers are not active", "403")
	c := fleetComputers(t, i)["web-1"].(map[string]any)
	check.Is(t, "the results that are kept", []bool{c["hostname"] != nil, c["relay_client_url"] != nil}, []bool{true, true})
}

// The fleet cannot know whether it created computers with its names, so it reports them and leaves them unchanged.
func TestFleet_computersOfOthers(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	other := func(name string) computerJSON { return newComputer(e, map[string]any{"name": name}) }
	other("web")
	other("web-1a")
	other("web-1-1")
	_, i := e.Created(t, fleetType, fleetOf(2))

	stranger := other("web-3")
	out := e.Apply(t, i, fleetOf(2))
	if out.Action != acctest.ActionNone || len(out.Warnings) != 0 {
		t.Errorf("a plan beside it: %s", out)
	}
	out = e.Apply(t, i, fleetOf(4))
	if !strings.Contains(out.Text(), stranger.ID) || !strings.Contains(out.Text(), "created at 2026-03-01T") || !strings.Contains(out.Text(), "terraform state rm ADDRESS") || !strings.Contains(out.Text(), "Raise quantity") || strings.Contains(out.Text(), "moved block") || e.Journal().Count("bulkCreateComputers") != 1 {
		t.Errorf("scaling up beside it: %s", out)
	}
	e.MustApply(t, i, fleetOf(1))
	e.MustApply(t, i, nil)
	check.Is(t, "computers left", len(computers(e)), 4)
	out = e.Apply(t, i, fleetOf(1))
	if !strings.Contains(out.Text(), stranger.ID) || !i.State.IsNull() {
		t.Errorf("creating beside it: %s", out)
	}
}
