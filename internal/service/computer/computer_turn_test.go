package computer_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// failedWithoutAWait creates a computer named web-1 that fails, and that nothing has seen since. From then on, each read lists again, and
// listed edits its steps, with the number of the listing.
func failedWithoutAWait(t *testing.T, typeName string, config acctest.Values, listed func(n int, failedStep map[string]any)) (*acctest.Env, *acctest.Process, *acctest.Instance) {
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
			out := p.ApplyLater(i, renamed, renamed)
			out.MustDo(t, acctest.ActionUpdate)
			acctest.Says(t, out.WarningText(), `has the status "error": its provisioning steps could not be read. To replace it, run terraform apply -replace=ADDRESS.`)
			if i.ID() != before {
				t.Error("the computer was replaced")
			}
			e.Faults().Clear()
			e.Plan(t, i, renamed).MustDo(t, acctest.ActionReplace)
		})
	}
}

// Before a fleet deletes a failed computer, it looks whether that has recovered since. Without that look, it deletes nothing.
func TestFleet_deletesNothingWithoutALook(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "web-1")
	p, i := e.Created(t, fleetType, fleetOf(2))
	apply, before := p.Save(i, fleetOf(2)), fleetIDs(i)
	p.Restart()
	e.Refuse("listComputers", http.StatusForbidden, -1)
	apply().MustFail(t, "", "computer fleet", "listComputers")
	e.WantRequests(t, "deleteComputer", 0)
	e.Faults().Clear()
	e.MustApply(t, i, fleetOf(2)).MustDo(t, acctest.ActionUpdate)
	if after := fleetIDs(i); after[0] == before[0] || after[1] != before[1] {
		t.Errorf("the computers were %v and are %v", before, after)
	}
}
