package environment_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironment_aPlanOfMany(t *testing.T) {
	t.Parallel()
	const n, failed = 20, 3
	e := acctest.New(t)
	made := make([]*acctest.Instance, n)
	for k := range n {
		_, made[k] = e.Created(t, environmentType, environmentOf(fmt.Sprint("e", k), nil))
	}
	plan := func() (changed int64) {
		p := acctest.NewProcess(t, e, nil)
		var count atomic.Int64
		e.Journal().Reset()
		acctest.Together(n, 10, func(k int) {
			out := p.Plan(made[k], environmentOf(fmt.Sprint("e", k), nil))
			if len(out.Errors) > 0 {
				t.Error(out)
			}
			if out.Action != acctest.ActionNone {
				count.Add(1)
			}
		})
		return count.Load()
	}
	changed := plan()
	if requests := len(e.Journal().Entries()); changed != 0 || requests > 3 {
		t.Errorf("%d changes, %d requests: %+v", changed, requests, e.Journal().Entries())
	}

	for k := range failed {
		failBuild(t, e, emulator.BuildFailure{})
		e.API(http.MethodPost, environmentsRoute+"/"+made[k].ID()+"/builds", nil, nil)
	}
	e.Clock.Advance(time.Hour)
	changed = plan()
	if requests := len(e.Journal().Entries()); changed != failed || requests > 3+failed {
		t.Errorf("with %d failed ones: %d changes, %d requests: %+v", failed, changed, requests, e.Journal().Entries())
	}
}

// A plan of new environments needs one list request, and one request for the sources that they use.
func TestEnvironment_aPlanOfManyNewOnes(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	acctest.Together(20, 10, func(k int) {
		if out := p.Plan(p.NewInstance(environmentType), environmentOf(fmt.Sprint("e", k), acctest.Values{"source_id": "source-base"})); len(out.Errors) > 0 {
			t.Error(out)
		}
	})
	if requests := e.Journal().Entries(); len(requests) != 2 {
		t.Errorf("%+v", requests)
	}
}
