package create

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Ten seconds are enough for all names of a collection that are taken, and all who wait for them share a listing each two seconds. Those who
// come later share one.
func TestLedger_waitsOnceForAllNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		for i := range 60 {
			s.things = append(s.things, thing{id: fmt.Sprint(i), state: fmt.Sprint("name-", i)})
		}
		ledger := slowly(s, 100*time.Millisecond)
		start := time.Now()
		collection.InParallel(10, 60, func(i int) error {
			hasName := isIn(fmt.Sprint("name-", i))
			time.Sleep(time.Duration(i%10) * 20 * time.Millisecond) // Resources start one after the other.
			check.Is(t, "known", len(mustKnow(t, ledger).Find(hasName)), 1)
			if _, taken, err := ledger.UntilFree(t.Context(), "", hasName); err != nil || len(taken) != 1 {
				t.Errorf("got %v, %v", taken, err)
			}
			return nil
		})
		if took, lists := time.Since(start), s.lists.Load(); took > 12*time.Second || lists > 6+2 {
			t.Errorf("60 names took %v and %d listings", took, lists)
		}
		time.Sleep(time.Minute)
		start, s.things = time.Now(), s.things[:59]
		if _, taken, err := ledger.UntilFree(t.Context(), "", isIn("name-0")); err != nil || len(taken) != 1 || time.Since(start) < 10*time.Second {
			t.Errorf("a name that is taken later has its own patience: %v, %v after %v", taken, err, time.Since(start))
		}
		if _, taken, err := ledger.UntilFree(t.Context(), "", isIn("name-59")); err != nil || len(taken) != 0 {
			t.Errorf("a name that is free: %v, %v", taken, err)
		}
	})
}

// What another run frees within the ten seconds is free for whoever waits, also for those who came later.
func TestLedger_waitsForANameThatIsFreed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{things: []thing{{"1", "a"}, {"2", "b"}}}
		ledger := slowly(s, time.Millisecond)
		start := time.Now()
		var waiting sync.WaitGroup
		for name, begins := range map[string]time.Duration{"a": 0, "b": 4 * time.Second} {
			waiting.Go(func() {
				time.Sleep(begins)
				if _, taken, err := ledger.UntilFree(t.Context(), "", isIn(name)); err != nil || len(taken) != 0 || time.Since(start) > 7*time.Second {
					t.Errorf("%s: %v, %v after %v", name, taken, err, time.Since(start))
				}
			})
		}
		time.Sleep(5 * time.Second)
		s.things = nil
		waiting.Wait()
		check.Is(t, "listings", s.lists.Load(), 4)
	})
}

// A name that is found taken is in a listing after the creation asked, also if the patience was used up, and is not what this process deleted.
func TestLedger_looksAtANameThatIsTakenLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{things: []thing{{"1", "a"}, {"2", "b"}, {"3", "c"}, {"4", "c"}}}
		ledger := slowly(s, time.Millisecond)
		expect := func(name, want string) {
			t.Helper()
			if _, taken, err := ledger.UntilFree(t.Context(), "", isIn(name)); err != nil || fmt.Sprint(thingIDs(taken)) != want {
				t.Errorf("%s: taken are %v, %v", name, taken, err)
			}
		}
		expect("a", "[1]")
		time.Sleep(listEvery)
		s.things = append(s.things[:1], s.things[2:]...)
		_ = ledger.AfterDelete("", "3", nil) // The service lists it still.
		start := time.Now()
		expect("b", "[]")
		expect("c", "[4]")
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

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
		ledger := slowly(s, time.Millisecond)
		start := time.Now()
		for i, err := range collection.InParallel(30, 30, func(i int) error {
			id, name := fmt.Sprint(i), fmt.Sprint("name-", i+1)
			if i == 29 { // It is deleted.
				time.Sleep(time.Second)
				service.mu.Lock()
				delete(service.ofIDs, id)
				service.mu.Unlock()
				return ledger.AfterDelete("", id, nil)
			}
			_, err := ledger.Update(t.Context(), "", isIn(name), func() (*thing, error) { return &thing{id, name}, service.rename(id, name) })
			return err
		}) {
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		if took := time.Since(start); took > 5*time.Second || service.sent > 29*2 || s.lists.Load() > 4 {
			t.Errorf("%v, %d requests, %d listings", took, service.sent, s.lists.Load())
		}
	})
}

// A rename is refused after ten seconds, in which it is sent again only if nothing is known to have the name. All renames of a collection
// share them, so that Terraform soon has a place for the change that frees the name.
func TestLedger_renameGivesUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		isKnown, isLate, isStopped bool
		sent                       int
		took                       time.Duration
	}{
		"known to be taken":         {isKnown: true, sent: 1, took: patience},
		"taken by something hidden": {sent: 11, took: patience},
		"known, and late":           {isKnown: true, isLate: true, sent: 1, took: renamePause},
		"hidden, and late":          {isLate: true, sent: 2, took: renamePause},
		"hidden, and interrupted":   {isStopped: true, sent: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, service := newSource(2), &names{ofIDs: map[string]string{"0": "taken"}}
			if tc.isKnown {
				s.things[0].state = "taken"
			}
			ledger := slowly(s, 0)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			rename := func() error {
				if tc.isStopped {
					time.AfterFunc(renamePause/2, stop)
				}
				_, err := ledger.Update(ctx, "", isIn("taken"), func() (*thing, error) { return nil, service.rename("1", "taken") })
				return err
			}
			if tc.isLate {
				_ = rename()
				time.Sleep(renamePause)
				service.sent = 0
			}
			start := time.Now()
			err := rename()
			if took := time.Since(start).Truncate(time.Second); !transport.IsConflict(err) || service.sent != tc.sent || took != tc.took {
				t.Errorf("%s: %v after %d requests and %v", name, err, service.sent, took)
			}
		})
	}
}
