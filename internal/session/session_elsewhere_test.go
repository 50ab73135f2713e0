package session_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A session that was moved to another computer still exists, and is deleted when the configured session replaces it.
func TestSession_onAnotherComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	configured := newComputer(e, "dev")
	config := withSettings(configured, map[string]any{"model": "model-light"})
	i := applied(t, e, config)
	before := i.ID()
	other := newComputer(e, "other")
	changed(t, e, before, emulator.SessionChange{ComputerID: &other})

	mustPlan(t, e, i, config, "replace")
	e.MustApply(t, i, config)
	if ids := idsOn(t, e, configured); len(ids) != 1 || ids[0] != i.ID() || i.ID() == before {
		t.Errorf("on the configured computer: %v, in the state: %s", ids, i.ID())
	}
	if ids := idsOn(t, e, other); len(ids) > 0 {
		t.Errorf("left on the other computer: %v", ids)
	}
}
