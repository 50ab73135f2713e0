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
	e := acctest.New(t)
	pairs := []string{"f", "1", "b", "2", "d", "3", "a", "4", "e", "5", "c", "6"}
	config, reversed := envValues(acctest.Values{"repositories": repositories(pairs...)}), repositories(pairs...)
	slices.Reverse(reversed)
	_, i := e.Created(t, environmentType, config)
	imported := e.NewInstance(t, environmentType)
	acctest.NewProcess(t, e, nil).Import(imported, i.ID()).MustSucceed(t)
	results := map[string]bool{}
	for _, order := range []any{repositories(pairs...), reversed} {
		e.Plan(t, i, envValues(acctest.Values{"repositories": order})).MustDo(t, acctest.ActionNone)
		e.Plan(t, imported, envValues(acctest.Values{"repositories": order})).MustDo(t, acctest.ActionNone)
		read := e.MustRead(t, nil, environmentType, acctest.Values{"id": i.ID()})
		results[fmt.Sprint(read["repositories"], read["active_repositories"], read["latest_build"])] = true
	}
	if len(results) != 1 {
		t.Errorf("the data source has several orders: %v", results)
	}
	e.Apply(t, i, envValues(acctest.Values{"repositories": reversed[1:]})).MustDo(t, acctest.ActionUpdate)
	mustRest(t, e, i, envValues(acctest.Values{"repositories": reversed[1:]}))
}
