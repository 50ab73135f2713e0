package create

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// names are a service that gives each name to one object at most.
type names struct {
	mu    sync.Mutex
	ofIDs map[string]string
	sent  int
}

func (n *names) rename(id, name string) error {
	time.Sleep(20 * time.Millisecond)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent++
	for other, its := range n.ofIDs {
		if its == name && other != id {
			return &transport.APIError{Status: 409, FromService: true}
		}
	}
	n.ofIDs[id] = name
	return nil
}

// The first element of a list of 30 names goes: each of the others gets the name of the next one, which is free once that was renamed.
func TestLedger_renamesAChainThatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, service := newSource(30), &names{ofIDs: map[string]string{}}
		for i := range s.things {
			s.things[i].state = fmt.Sprint("name-", i)
			service.ofIDs[s.things[i].id] = s.things[i].state
		}
		sh := slowly(s, time.Millisecond)
		start := time.Now()
		for i, err := range collection.InParallel(30, 30, func(i int) error {
			id, name := fmt.Sprint(i), fmt.Sprint("name-", i+1)
			defer sh.Changing(id)()
			if i == 29 { // It is deleted.
				time.Sleep(time.Second)
				service.mu.Lock()
				defer service.mu.Unlock()
				delete(service.ofIDs, id)
				return nil
			}
			return sh.Rename(t.Context(), "", isIn(name), func() error { return service.rename(id, name) })
		}) {
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		if took := time.Since(start); took > 5*time.Second || service.sent > 29*4 || s.lists.Load() != 1 {
			t.Errorf("%v, %d requests, %d listings", took, service.sent, s.lists.Load())
		}
	})
}

// If nothing in this process frees the name, the place for another change is given back soon. If it is not known who has the name, it may
// become free.
func TestLedger_renameGivesUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		known    bool
		changing string
		sent     int
		took     time.Duration
	}{
		"nothing changes its object":  {known: true, sent: 2, took: time.Second},
		"its object does not move":    {known: true, changing: "0", sent: 11, took: 10 * time.Second},
		"another object is changed":   {known: true, changing: "1", sent: 2, took: time.Second},
		"its object is not in a list": {sent: 11, took: 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, service := newSource(2), &names{ofIDs: map[string]string{"0": "taken"}}
			if tc.known {
				s.things[0].state = "taken"
			}
			sh := slowly(s, 0)
			defer sh.Changing(tc.changing)()
			start := time.Now()
			err := sh.Rename(t.Context(), "", isIn("taken"), func() error { return service.rename("1", "taken") })
			if took := time.Since(start).Truncate(time.Second); !transport.IsConflict(err) || service.sent != tc.sent || took != tc.took {
				t.Errorf("%s: %v after %d requests and %v", name, err, service.sent, took)
			}
		})
	}
}
