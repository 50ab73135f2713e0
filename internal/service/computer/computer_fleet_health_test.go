package computer_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// provisioned is longer than the provisioning of a computer.
const provisioned = time.Minute

// failSetUp makes the provisioning of the next computer with a name fail.
func failSetUp(e *acctest.Env, name string) {
	e.FailProvisioning(emulator.FailStep{Name: name, Step: "create-computer", Error: "the disk is full"})
}

// breakNow breaks the active computer with a name.
func breakNow(t *testing.T, e *acctest.Env, name string) {
	t.Helper()
	for _, c := range computers(e) {
		if c.Name == name {
			check.Must(t, e.Break(c.ID))
		}
	}
}

func TestFleet_replacesOnlyWhatWasNeverActive(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := e.NewInstance(t, fleetType)
	failSetUp(e, "web-2")
	const next = "failed: the disk is full.\n\nThey are kept in the state. The next apply replaces computers that failed before dependencies were installed."
	if out := e.MustApply(t, i, fleetOf(3)); i.Tainted || !strings.HasSuffix(out.WarningText(), next) {
		t.Fatalf("created: %s", out.WarningText())
	}
	breakNow(t, e, "web-3")

	before := fleetTexts(t, i, "id")
	for range 2 { // Every refresh reports it.
		check.Says(t, e.Plan(t, i, fleetOf(3)).WarningText(), `2 of 3 computers of the fleet "web" failed:`,
			`): the status is "error": step "Create computer" failed: the disk is full`,
			`): the status is "error": the service gives no reason`+"\n\nTo replace another failed computer, save its files, delete it at the service, then apply.")
	}
	e.MustApply(t, i, fleetOf(3)).MustDo(t, acctest.ActionUpdate)
	check.Is(t, "after healing the statuses", fleetTexts(t, i, "status"), []string{"active", "active", "error"})
	if after := fleetTexts(t, i, "id"); after[0] != before[0] || after[1] == before[1] || after[2] != before[2] || len(computers(e)) != 3 {
		t.Errorf("the computers were %v and are %v", before, after)
	}
	mustSay(t, e.Plan(t, i, fleetOf(3)), acctest.ActionNone, "1 of 3 computers")
}

// Without a wait, a refresh records whether the computers are active or failed.
func TestFleet_withoutWaitingARefreshTells(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := fleetOf(2)
	config["wait_for_active"] = false
	failSetUp(e, "web-1")
	_, i := e.Created(t, fleetType, config)
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	e.Clock.Advance(provisioned)
	e.MustApply(t, i, config) // Replaces web-1, and has seen web-2 active.
	e.Clock.Advance(provisioned)
	e.MustApply(t, i, config)
	breakNow(t, e, "web-1")
	breakNow(t, e, "web-2")
	mustSay(t, e.Plan(t, i, config), acctest.ActionNone, "2 of 2")
}

// An imported computer may have been used.
func TestFleet_importedComputersAreNotReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "web-1")
	makeComputers(e, "web", 2)
	e.Clock.Advance(provisioned)
	i := imported(t, e, fleetType, "web")
	config := acctest.Values{"name_prefix": "web", "quantity": 2}
	mustSay(t, e.Plan(t, i, config), acctest.ActionNone, "Fleet computers missing or changed")
}

// An installation that fails is not proof that the computer was never active.
func TestFleet_anInstallationIsNoProof(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := fleetOf(1)
	config["wait_for_active"], config["auto_install_deps"] = false, true
	_, i := e.Created(t, fleetType, config)
	e.Clock.Advance(provisioned)
	e.FailProvisioning(emulator.FailStep{Name: "web-1", Step: "install-dependencies", Error: "no lock file"})
	e.API("POST", "/api/v0/computers/"+fleetTexts(t, i, "id")[0]+"/install-deps", nil, nil)
	e.Clock.Advance(provisioned)
	breakNow(t, e, "web-1")
	mustSay(t, e.Plan(t, i, config), acctest.ActionNone, "Fleet computers missing or changed")
}

// fromNowOn changes a field of all computers in the responses after start was called.
func fromNowOn(field, value string) (option acctest.Option, start func()) {
	var started atomic.Bool
	return acctest.Rewrite("/api/v0/computers", "computers", func(_ *http.Request, c map[string]any) {
		if started.Load() {
			c[field] = value
		}
	}), func() { started.Store(true) }
}

// A saved plan may be old when it is applied. What has recovered since may be in use.
func TestFleet_whatRecoversIsNotReplaced(t *testing.T) {
	t.Parallel()
	change, recovers := fromNowOn("status", "active")
	e := acctest.New(t, change)
	failSetUp(e, "web-1")
	p, i := e.Created(t, fleetType, fleetOf(2))
	apply := p.Save(i, fleetOf(2))
	recovers()
	p.Restart()
	apply().MustFail(t, "", "Fleet changed since the plan", `computers of the fleet "web"`, "no longer exist: web-1. Nothing was changed. Plan again, then apply.")
	e.MustApply(t, i, fleetOf(2)).MustDo(t, acctest.ActionNone)
	e.WantRequests(t, "deleteComputer", 0)
	e.WantRequests(t, "bulkCreateComputers", 1)
}

// The name of a failed computer is not planned if a lower number is free.
func TestFleet_whatRecoversTakesThePlaceOfANewOne(t *testing.T) {
	t.Parallel()
	change, recovers := fromNowOn("status", "active")
	e := acctest.New(t, change)
	failSetUp(e, "web-4")
	p, i := e.Created(t, fleetType, fleetOf(4))
	before := fleetTexts(t, i, "id")
	deleteComputers(e, "web-2", "web-3")
	p.Restart()
	apply := p.Save(i, fleetOf(2))
	recovers()
	p.Restart()
	apply().MustFail(t, "", "Fleet changed since the plan", "web-4")
	e.MustApply(t, i, fleetOf(2)).MustDo(t, acctest.ActionUpdate)
	if got := fleetTexts(t, i, "id"); len(got) != 2 || got[0] != before[0] || got[1] != before[3] {
		t.Errorf("the computers were %v and are %v", before, got)
	}
	check.Is(t, "the names", strings.Join(fleetNames(t, i), " "), "web-1 web-4")
	e.WantRequests(t, "deleteComputer", 2) // Those of the test.
	e.WantRequests(t, "bulkCreateComputers", 1)
}

// A wait plans as unknown only what the rest of the set-up sets. What was known stays, whatever the service returns.
func TestFleet_aWaitKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	change, changes := fromNowOn("remoteUser", "another")
	e := acctest.New(t, change)
	config := fleetOf(1)
	config["wait_for_active"] = false
	p, i := e.Created(t, fleetType, config)
	user := fleetComputers(t, i)["web-1"].(map[string]any)["remote_user"]
	apply := p.Save(i, fleetOf(1))
	changes()
	p.Restart()
	out := apply() // The harness compares the result with the plan.
	out.MustDo(t, acctest.ActionUpdate)
	if unknown := out.Unknown(t); slices.Contains(unknown, "computers.remote_user") || !slices.Contains(unknown, "computers.status") {
		t.Errorf("unknown are %v", unknown)
	}
	if got := fleetComputers(t, i)["web-1"].(map[string]any); got["remote_user"] != user || got["status"] != "active" {
		t.Errorf("the state holds %v", got)
	}
}

// A typo in quantity must not use the memory for a million computers.
func TestFleet_aHugeGrowthIsUnknownAsAWhole(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(1))
	e.Plan(t, i, fleetOf(1_000_000_000)).MustDo(t, acctest.ActionUpdate)
}

// If the replacement of a deleted computer cannot be created, the computer is missing in the state.
func TestFleet_aFailedCreationAfterDeletions(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "web-1")
	_, i := e.Created(t, fleetType, fleetOf(2))
	e.Faults().Add(emulator.Fault{Operation: "bulkCreateComputers", Kind: emulator.FaultStatusBeforeCommit, Status: 402})
	out := e.Apply(t, i, fleetOf(2))
	if len(out.Errors) != 1 || !slices.Equal(fleetTexts(t, i, "status"), []string{"missing", "active"}) || i.Tainted {
		t.Fatalf("%s; the state holds %v", out, fleetTexts(t, i, "status"))
	}
	e.MustApply(t, i, fleetOf(2))
	check.Is(t, "the state holds", fleetTexts(t, i, "status"), []string{"active", "active"})
}

// A refresh of a large fleet reports broken computers in a few lines.
func TestFleet_namesAFewOfManyBroken(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(30))
	for _, c := range computers(e) {
		check.Must(t, e.Break(c.ID))
	}
	out := e.Plan(t, i, fleetOf(30))
	if text := out.WarningText(); out.Action != acctest.ActionNone || strings.Count(text, "\n") > 25 || !strings.Contains(text, "30 of 30") || !strings.Contains(text, "- and 10 more") {
		t.Errorf("the plan is %s:\n%s", out.Action, text)
	}
}

// A plan that shows only some new computers names the others.
func TestFleet_namesTheComputersThatAPlanHides(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for quantity, want := range map[int]string{50: "", 51: "shows 50 of them and omits: web-51.", 200: "web-51, web-52"} {
		out := e.Plan(t, e.NewInstance(t, fleetType), fleetOf(quantity))
		if text := out.WarningText(); len(out.Errors) > 0 || (text == "") != (want == "") || !strings.Contains(text, want) {
			t.Errorf("%d: %s", quantity, out)
		}
		// The keys are known, so that for_each can use them. The CLIs hide an object that is unknown as a whole.
		shown := 0
		for _, c := range acctest.Plain(t, out.Planned).(map[string]any)["computers"].(map[string]any) {
			if c != "unknown" {
				shown++
			}
		}
		check.Is(t, "computers are shown", shown, 50)
	}
}

// A smaller quantity or a destroy does not replace missing or failed computers.
func TestFleet_warnsOnlyOfWhatIsCertain(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, fleetType, fleetOf(3))
	second := fleetTexts(t, i, "id")[1]
	deleteComputers(e, "web-3")
	breakNow(t, e, "web-2")
	out := e.MustApply(t, i, fleetOf(1))
	const summary = "Fleet computers missing or changed: "
	check.Is(t, "the warnings", out.WarningText(), summary+`1 of 3 computers of the fleet "web" no longer exists: web-3.`+"\n"+
		summary+`1 of 2 computers of the fleet "web" failed:`+"\n- web-2 ("+second+`): the status is "error": the service gives no reason`+"\n\nTo replace another failed computer, save its files, delete it at the service, then apply.\n"+
		`Fleet will shrink: An apply that keeps the fleet "web" deletes 1 of its computers: web-2. Terraform shows this as a change, not as a destruction.`)
}
