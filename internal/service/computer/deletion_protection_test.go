package computer_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// A protected computer is not replaced without being asked.
func TestComputer_aProtectedFailureIsKept(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	failSetUp(e, "a")
	config := acctest.Values{"name": "a", "wait_for_active": false, "deletion_protection": true}
	_, i := e.Created(t, computerType, config)
	e.Clock.Advance(provisioned)
	out := e.Plan(t, i, config)
	out.MustDo(t, acctest.ActionNone)
	acctest.Says(t, out.WarningText(), `has the status "error"`)
}

// Deletion protection is about the fleet as a whole.
func TestFleet_protectedFleetScalesDown(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"name_prefix": "f", "quantity": 3, "wait_for_active": false, "deletion_protection": true}
	_, i := e.Created(t, fleetType, config)
	e.Clock.Advance(provisioned)
	config["quantity"] = 1
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if names := computerNames(e); len(names) != 1 {
		t.Errorf("the computers are %v", names)
	}
}
