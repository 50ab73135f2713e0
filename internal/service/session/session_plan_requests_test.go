package session_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A plan lists the sessions of each computer once. A deleted session's computer, and what no list has yet, is asked for.
func TestSession_plansOfMany(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ sessions, computers, most int }{
		"40 on one computer":        {40, 1, 2},
		"20 on 20 computers":        {20, 20, 20},
		"40 on one that is deleted": {40, 1, 3},
		"40 new ones":               {40, 1, 42}, // No list contains them yet.
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 100 })
			var computers []string
			for n := range tc.computers {
				computers = append(computers, newComputer(e, fmt.Sprint("box-", n)))
			}
			on := func(k int) acctest.Values { return valuesOf(computers[k%len(computers)], nil) }
			made := make([]*acctest.Instance, tc.sessions)
			acctest.Together(tc.sessions, 10, func(k int) { _, made[k] = e.Created(t, sessionType, on(k)) })
			if name != "40 new ones" {
				e.Clock.Advance(time.Hour)
			}
			if name == "40 on one that is deleted" {
				deleted(e, "/api/v0/computers/"+computers[0])
			}
			p := acctest.NewProcess(t, e, nil)
			e.Journal().Reset()
			acctest.Together(tc.sessions, 10, func(k int) {
				if out := p.Plan(made[k], on(k)); out.Action != acctest.ActionNone || len(out.Errors) > 0 {
					t.Error(out)
				}
			})
			if requests := e.Journal().Entries(); len(requests) > tc.most {
				t.Errorf("%d requests: %+v", len(requests), requests)
			}
		})
	}
}
