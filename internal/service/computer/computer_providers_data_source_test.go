package computer_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The data source asks for itself: what another object was told before, such as a passing error, does not matter.
func TestComputerProviders_afterAnErrorOfAPlan(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
	e.Faults().Add(emulator.Fault{Operation: "listComputerProviders", Kind: emulator.FaultStatusBeforeCommit, Status: 503, Times: 1})
	p.Plan(p.NewInstance("agentyard_computer"), acctest.Values{"name": "a", "provider_type": "managed-a"})
	if n := e.Journal().Count("listComputerProviders"); n != 1 {
		t.Fatalf("the plan sent %d requests", n)
	}
	_, out := p.ReadData("agentyard_computer_providers", nil)
	out.MustSucceed(t)
}
