package environment_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// The service returns repositories in any order, which changes neither the plan nor the results.
func TestEnvironment_repositoriesInAnyOrder(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, quickBuilds)
	pairs := []string{"f", "1", "b", "2", "d", "3", "a", "4", "e", "5", "c", "6"}
	config := envValues(acctest.Values{"repositories": repositories(pairs...)})
	i := e.NewInstance(t, environmentType)
	e.MustApply(t, i, config)
	reversed := repositories(pairs...)
	slices.Reverse(reversed)
	imported := e.NewInstance(t, environmentType)
	acctest.NewProcess(t, e, nil).Import(imported, i.ID()).MustSucceed(t)
	reads := map[string]bool{}
	results := func(p *acctest.Process) string {
		data, out := p.ReadData(environmentType, acctest.Values{"id": i.ID()})
		out.MustSucceed(t)
		return fmt.Sprint(data["repositories"], data["active_repositories"], data["latest_build"])
	}
	state := i.State
	for range 2 {
		for _, order := range []any{repositories(pairs...), reversed} {
			e.Plan(t, i, envValues(acctest.Values{"repositories": order})).MustDo(t, acctest.ActionNone)
			e.Plan(t, imported, envValues(acctest.Values{"repositories": order})).MustDo(t, acctest.ActionNone)
		}
		if !i.State.Equal(state) {
			t.Errorf("the state changes: %s", i.State)
		}
		reads[results(acctest.NewProcess(t, e, nil))] = true
	}
	if len(reads) != 1 {
		t.Errorf("the data source has several orders: %v", reads)
	}
	e.MustApply(t, i, envValues(acctest.Values{"repositories": reversed[1:]}))
	mustRest(t, e, i, envValues(acctest.Values{"repositories": reversed[1:]}))
	e.WantRequests(t, "updateEnvironment", 1)
}
