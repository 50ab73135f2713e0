package session_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// wholePages makes the emulator use the service's page size.
func wholePages(o *emulator.Options) { o.MaxPageSize = 100 }

// madeTogether creates n sessions in one process, each on the computer that on returns.
func madeTogether(t *testing.T, e *acctest.Env, n int, on func(k int) string) []*acctest.Instance {
	t.Helper()
	p := acctest.NewProcess(t, e, nil)
	made := make([]*acctest.Instance, n)
	acctest.Together(n, 10, func(k int) {
		made[k] = p.NewInstance(sessionType)
		if out := p.Apply(made[k], valuesOf(on(k), nil)); len(out.Errors) > 0 || len(out.Warnings) > 0 {
			t.Error(out)
		}
	})
	return made
}

// planTogether plans the sessions in one process. It returns how many would change, and how many requests were sent.
func planTogether(t *testing.T, e *acctest.Env, made []*acctest.Instance, on func(k int) string) (changes int64, requests int) {
	t.Helper()
	p := acctest.NewProcess(t, e, nil)
	var count atomic.Int64
	e.Journal().Reset()
	acctest.Together(len(made), 10, func(k int) {
		out := p.Plan(made[k], valuesOf(on(k), nil))
		if len(out.Errors) > 0 {
			t.Error(out)
		}
		if out.Action != acctest.ActionNone {
			count.Add(1)
		}
	})
	return count.Load(), len(e.Journal().Entries())
}

func TestSession_plansOfMany(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ sessions, computers, most int }{
		"200 on one computer":        {200, 1, 2},
		"40 on 40 computers":         {40, 40, 40},
		"200 on one that is deleted": {200, 1, 3},
		"200 new ones":               {200, 1, 202}, // No list contains them yet.
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, wholePages)
			var computers []string
			for n := range tc.computers {
				computers = append(computers, newComputer(e, fmt.Sprint("box-", n)))
			}
			on := func(k int) string { return computers[k%len(computers)] }
			made := madeTogether(t, e, tc.sessions, on)
			if name != "200 new ones" {
				e.Clock.Advance(time.Hour)
			}
			if name == "200 on one that is deleted" {
				deleted(e, "/api/v0/computers/"+computers[0])
			}
			changes, requests := planTogether(t, e, made, on)
			t.Logf("%d sessions on %d computers: planned with %d requests", tc.sessions, tc.computers, requests)
			if changes != 0 || requests > tc.most {
				t.Errorf("%d changes, %d requests: %+v", changes, requests, e.Journal().Entries())
			}
		})
	}
}

func TestSession_creatingAndDestroyingMany(t *testing.T) {
	t.Parallel()
	const n = 50
	e := acctest.New(t, wholePages)
	computer := newComputer(e, "dev")
	on := func(int) string { return computer }
	e.Journal().Reset()
	made := madeTogether(t, e, n, on)
	requests := len(e.Journal().Entries())
	t.Logf("%d sessions: created with %d requests", n, requests)
	if ids := idsOn(t, e, computer); len(ids) != n || requests > n+5 {
		t.Errorf("%d sessions, %d requests", len(ids), requests)
	}
	e.Clock.Advance(time.Hour)
	e.Journal().Reset()
	p := acctest.NewProcess(t, e, nil)
	acctest.Together(n, 10, func(k int) {
		if out := p.Destroy(made[k]); len(out.Errors) > 0 {
			t.Error(out)
		}
	})
	if ids, requests := idsOn(t, e, computer), len(e.Journal().Entries()); len(ids) != 0 || requests > n {
		t.Errorf("%d sessions are left after %d requests", len(ids), requests)
	}
}
