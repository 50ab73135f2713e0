package computer_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// A computer that failed to provision is replaced, with a warning that says why.
func TestComputer_replacesWhatWasNeverActive(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "a")
	config := acctest.Values{"name": "a", "wait_for_active": false}
	keeping := acctest.Values{"name": "a", "wait_for_active": false, "replace_failed": false}
	p, i := e.Created(t, computerType, config)
	e.Clock.Advance(provisioned)
	before := i.ID()

	out := e.Plan(t, i, keeping)
	out.MustDo(t, acctest.ActionUpdate)
	check.Says(t, out.WarningText(), `Computer "a" (`+before+`) has the status "error": step "Create computer" failed: the disk is full`)
	out = e.Plan(t, i, config)
	out.MustDo(t, acctest.ActionReplace)
	check.Says(t, out.WarningText(), "the disk is full", "failed to provision and was never active", "replace_failed = false")
	check.Lacks(t, out.WarningText(), "-replace")
	p.Apply(i, config).MustDo(t, acctest.ActionReplace)
	e.Clock.Advance(provisioned)
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	if only(t, e).ID == before || i.Attribute("status") == "error" {
		t.Errorf("the state is %s", i.State)
	}
}

// Whoever follows the advice to keep a computer that failed in its creation, or protects it, keeps it.
func TestComputer_keepsWhatFailedInItsCreation(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "a")
	i, config := e.NewInstance(t, computerType), acctest.Values{"name": "a", "deletion_protection": true}
	e.Apply(t, i, config).MustFail(t, "", "Computer failed to provision", "set replace_failed = false and run terraform untaint ADDRESS.")
	i.Tainted = false // As after terraform untaint.
	e.Plan(t, i, acctest.Values{"name": "a"}).MustDo(t, acctest.ActionReplace)
	for _, keeping := range []acctest.Values{config, {"name": "a", "replace_failed": false}} {
		e.Apply(t, i.Clone(), keeping).MustDo(t, acctest.ActionUpdate)
	}
}

// A computer that was active may have been used, so it is kept.
func TestComputer_warnsOfWhatWasUsed(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]acctest.Values{
		"managed": {"name": "a"}, "not waited for": {"name": "a", "wait_for_active": false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			_, i := e.Created(t, computerType, config)
			e.Clock.Advance(provisioned)
			e.Apply(t, i, config).MustDo(t, acctest.ActionNone) // Sees it active.
			breakNow(t, e, "a")
			for range 2 {
				mustSay(t, e.Plan(t, i, config), acctest.ActionNone, `has the status "error": the service gives no reason. To replace it, run terraform apply -replace=ADDRESS.`)
			}
		})
	}
}

// An import also reads the steps of a failed computer. With the key of a service account, it is still that of the key's owner.
func TestComputer_anImportedFailureIsKept(t *testing.T) {
	t.Parallel()
	for _, withAccount := range []bool{false, true} {
		e := acctest.New(t)
		failSetUp(e, "a")
		body, settings := map[string]any{"name": "a"}, acctest.Values{}
		if withAccount {
			settings["api_key"], body["serviceAccountId"] = e.ServiceAccountKey()
		}
		p := acctest.NewProcess(t, e, settings)
		i := p.NewInstance(computerType)
		p.Import(i, makeComputer(e, body).ID).MustSucceed(t)
		mustSay(t, p.Plan(i, acctest.Values{"name": "a"}), acctest.ActionNone, "the disk is full")
	}
}

// The plan asks once for the providers, and only if it creates something with one of them.
func TestComputer_checksTheProviderOnce(t *testing.T) {
	t.Parallel()
	for typeName, base := range map[string]acctest.Values{computerType: {"name": "a"}, fleetType: fleetOf(1)} {
		e := acctest.New(t)
		p := acctest.NewProcess(t, e, nil)
		plan := func(p *acctest.Process, provider any) acctest.Outcome {
			config := maps.Clone(base)
			config["provider_type"] = provider
			return p.Plan(p.NewInstance(typeName), config)
		}
		unknown := acctest.Values{"service_account_id": tftypes.UnknownValue, "provider_type": "managed-d"}
		maps.Copy(unknown, base)
		p.Plan(p.NewInstance(typeName), unknown).MustDo(t, acctest.ActionCreate)
		mustBeSilent(t, e)
		plan(p, nil).MustDo(t, acctest.ActionCreate)
		if typeName == computerType {
			plan(p, "byom").MustDo(t, acctest.ActionCreate)
		}
		e.WantRequests(t, "listComputerProviders", 0)
		for range 2 {
			plan(p, "managed-b").MustDo(t, acctest.ActionCreate)
			plan(p, "managed-d").MustFail(t, "provider_type", "Provider not available", `"managed-d"`, "managed-a, managed-b")
		}
		e.WantRequests(t, "listComputerProviders", 1)

		e.Refuse("listComputerProviders", 500, -1)
		plan(acctest.NewProcess(t, e, nil), "managed-d").MustDo(t, acctest.ActionCreate)
	}
}

// A protected computer is not replaced without being asked.
func TestComputer_aProtectedFailureIsKept(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "a")
	config := acctest.Values{"name": "a", "wait_for_active": false, "deletion_protection": true}
	_, i := e.Created(t, computerType, config)
	e.Clock.Advance(provisioned)
	mustSay(t, e.Plan(t, i, config), acctest.ActionNone, `has the status "error"`)
}

// failedWithoutAWait creates a computer named web-1 that fails, and that nothing has seen since. From then on, each read lists again, and
// listed edits its steps, with the number of the listing.
func failedWithoutAWait(t testing.TB, typeName string, config acctest.Values, listed func(n int, failedStep map[string]any)) (*acctest.Env, *acctest.Process, *acctest.Instance) {
	t.Helper()
	var p *acctest.Process
	n := -1
	e := acctest.New(t, acctest.Rewrite("/api/v0/computers", "computers", func(r *http.Request, c map[string]any) {
		steps, isListed := c["provisioningSteps"].([]any)
		if n < 0 || !isListed || r.Method != http.MethodGet {
			return
		}
		n++
		p.Restart()
		listed(n, steps[0].(map[string]any))
	}))
	failSetUp(e, "web-1")
	created, i := e.Created(t, typeName, config)
	p = created
	e.Clock.Advance(provisioned)
	p.Restart()
	n = 0
	return e, p, i
}

var unwaited = map[string]acctest.Values{
	computerType: {"name": "web-1", "wait_for_active": false}, fleetType: {"name_prefix": "web", "quantity": 1, "wait_for_active": false},
}

// A plan and its apply follow from what the refresh saw: they agree, even if the steps change at any moment in between.
func TestComputer_stepsThatTurnAfterTheRefresh(t *testing.T) {
	t.Parallel()
	for typeName, config := range unwaited {
		for turn := 1; turn <= 4; turn++ {
			t.Run(fmt.Sprintf("%s/%d", typeName, turn), func(t *testing.T) {
				t.Parallel()
				_, p, i := failedWithoutAWait(t, typeName, config, func(n int, step map[string]any) {
					if n <= turn { // The computer may have been used: its installation failed.
						step["id"] = "install-dependencies"
					}
				})
				p.ApplyLater(i, config, config).MustSucceed(t) // The harness compares both plans.
			})
		}
	}
}

// refusal records why the harness, like Terraform, refuses a plan.
type refusal struct {
	testing.TB
	why string
}

func (r *refusal) Errorf(format string, args ...any) { r.why += fmt.Sprintf(format, args...) }

// A plan replaces only what fails in its own look too. If the last look shows the failure again, Terraform refuses the apply.
func TestComputer_aLookThatTurnsBack(t *testing.T) {
	t.Parallel()
	harness := &refusal{TB: t}
	_, p, i := failedWithoutAWait(harness, computerType, unwaited[computerType], func(n int, step map[string]any) {
		if n == 2 { // After that of the refresh, and before that of the apply.
			step["id"] = "install-dependencies"
		}
	})
	renamed := acctest.Values{"name": "b", "wait_for_active": false}
	p.ApplyLater(i, renamed, renamed).MustDo(t, acctest.ActionUpdate)
	check.Says(t, harness.why, "inconsistent plan", `"status"`)
}

// A refresh without the steps proves nothing, so the plan keeps the computer and says why. What another listing shows later is for the next
// refresh.
func TestComputer_aListingThatFails(t *testing.T) {
	t.Parallel()
	for turn := 1; turn <= 4; turn++ {
		t.Run(fmt.Sprint(turn), func(t *testing.T) {
			t.Parallel()
			e, p, i := failedWithoutAWait(t, computerType, unwaited[computerType], func(int, map[string]any) {})
			before := i.ID()
			e.Refuse("listComputers", http.StatusForbidden, turn)
			renamed := acctest.Values{"name": "b", "wait_for_active": false}
			mustSay(t, p.ApplyLater(i, renamed, renamed), acctest.ActionUpdate, `has the status "error": its provisioning steps could not be read. To replace it, run terraform apply -replace=ADDRESS.`)
			check.Is(t, "the computer's ID", i.ID(), before)
			e.Faults().Clear()
			e.Plan(t, i, renamed).MustDo(t, acctest.ActionReplace)
		})
	}
}

// A listing that shows the computer as active says nothing of the failure that was read.
func TestComputer_aListingThatContradicts(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, acctest.Rewrite("/api/v0/computers", "computers", func(_ *http.Request, c map[string]any) {
		if c["provisioningSteps"] != nil {
			c["status"] = "active"
		}
	}))
	failSetUp(e, "a")
	i := e.NewInstance(t, computerType)
	e.Apply(t, i, acctest.Values{"name": "a"}).MustFail(t, "", "Computer failed to provision")
	check.Is(t, "the status", i.Attribute("status"), "error")
}

// Before a fleet deletes a failed computer, it looks whether that has recovered since. Without that look, it deletes nothing.
func TestFleet_deletesNothingWithoutALook(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "web-1")
	p, i := e.Created(t, fleetType, fleetOf(2))
	apply, before := p.Save(i, fleetOf(2)), fleetTexts(t, i, "id")
	p.Restart()
	e.Refuse("listComputers", http.StatusForbidden, -1)
	apply().MustFail(t, "", "computer fleet", "listComputers")
	e.WantRequests(t, "deleteComputer", 0)
	e.Faults().Clear()
	e.MustApply(t, i, fleetOf(2)).MustDo(t, acctest.ActionUpdate)
	if after := fleetTexts(t, i, "id"); after[0] == before[0] || after[1] != before[1] {
		t.Errorf("the computers were %v and are %v", before, after)
	}
}
