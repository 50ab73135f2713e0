package create

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// thing is an object whose name is its state.
type thing struct{ id, state string }

func (t *thing) Ref() wire.Ref { return wire.Ref{ID: t.id, Name: t.state} }

func (t *thing) MissingField() string { return "" }

// isIn returns whether a thing has a state.
func isIn(state string) func(*thing) bool {
	return func(t *thing) bool { return t.state == state }
}

// source counts its listings.
type source struct {
	lists  atomic.Int64
	things []thing
}

func newSource(n int) *source {
	s := &source{}
	for i := range n {
		s.things = append(s.things, thing{id: fmt.Sprint(i)})
	}
	return s
}

func (s *source) list(context.Context, string) ([]thing, error) {
	s.lists.Add(1)
	return s.things, nil
}

func (s *source) ledger(clk clock.Clock, ownedSince func(string) time.Time) *Ledger[thing] {
	return ledgerOf(clk, ownedSince, s.list)
}

func ledgerOf(clk clock.Clock, ownedSince func(string) time.Time, list func(context.Context, string) ([]thing, error)) *Ledger[thing] {
	return NewLedger(&transport.Conn{Clock: clk}, collection.NewListing(clk, true, list), ownedSince)
}

func mustKnow(t *testing.T, sh *Ledger[thing], name string) Before[thing] {
	t.Helper()
	known, err := sh.Before(t.Context(), "", isIn(name))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func thingIDs(things []thing) []string {
	ids := make([]string, len(things))
	for i := range things {
		ids[i] = things[i].id
	}
	slices.Sort(ids)
	return ids
}

// A collection takes one listing, and then follows the writes of this process.
func TestLedger_isLearnedOnceAndKept(t *testing.T) {
	t.Parallel()
	s := &source{things: []thing{{"1", "a"}, {"2", "a"}, {"3", "b"}}}
	clk := clock.NewFake(time.Now())
	sh := s.ledger(clk, nil)
	expect := func(name string, want ...string) {
		t.Helper()
		if got := thingIDs(mustKnow(t, sh, name).Named); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	expect("a", "1", "2")
	sh.Wrote("", &thing{"4", "a"})
	sh.Wrote("", &thing{"1", "c"})
	_ = sh.AfterDelete("", "2", nil)
	_ = sh.AfterDelete("", "unknown", nil)
	expect("a", "4")
	expect("b", "3")
	expect("c", "1")
	s.things = append(s.things, thing{"5", "a"})
	expect("a", "4")
	if got, err := sh.Listing.FindNow(t.Context(), "", isIn("a")); err != nil || len(got) != 3 {
		t.Errorf("asked anew: %v, %v", got, err)
	}
	expect("a", "4")
	if s.lists.Load() != 2 {
		t.Errorf("%d listings, want one to learn and one anew", s.lists.Load())
	}
	expect("none")
}

// A creation lists again what may be out of date, even if reads still share the older listing.
func TestLedger_isLearnedAnew(t *testing.T) {
	t.Parallel()
	for pass, listings := range map[time.Duration]int64{0: 1, collection.FreshFor - 1: 1, collection.FreshFor: 2} {
		s := newSource(2)
		clk := clock.NewFake(time.Now())
		sh := s.ledger(clk, nil)
		mustKnow(t, sh, "")
		s.things = append(s.things[:1], thing{id: "theirs"})
		clk.Advance(pass)
		known := mustKnow(t, sh, "")
		if s.lists.Load() != listings || known.Has("theirs") != (listings == 2) || known.Has("1") != (listings == 1) {
			t.Errorf("after %v: %d listings, theirs is known %v", pass, s.lists.Load(), known.Has("theirs"))
		}
	}
}

// A listing that a read has made is as old for creations as it is.
func TestLedger_countsTheAgeOfAListingFromItsRead(t *testing.T) {
	t.Parallel()
	s, clk := newSource(1), clock.NewFake(time.Now())
	sh := s.ledger(clk, nil)
	if _, err := sh.Listing.All(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for listings, pass := range []time.Duration{collection.FreshFor - 1, 1} {
		clk.Advance(pass)
		if mustKnow(t, sh, ""); s.lists.Load() != int64(listings+1) {
			t.Errorf("after another %v: %d listings", pass, s.lists.Load())
		}
	}
}

// A creation knows the objects that existed when it started, and those that this process creates meanwhile. An object that
// only a later listing shows does not count as known.
func TestLedger_knowsWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	s := newSource(1)
	clk := clock.NewFake(time.Now())
	sh := s.ledger(clk, nil)
	first := mustKnow(t, sh, "x")
	s.things = append(s.things, thing{id: "new"}) // The first creation commits, and its response is still in flight.
	clk.Advance(time.Hour)
	second := mustKnow(t, sh, "x")
	sh.Wrote("", &thing{id: "own"})
	for id, want := range map[string][2]bool{"0": {true, true}, "new": {false, true}, "own": {true, true}, "unknown": {false, false}} {
		if got := [2]bool{first.Has(id), second.Has(id)}; got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

// A collection whose owner this process created is known without a listing, and an object that is gone does not require one.
func TestLedger_beginsAndShrinksWithoutAListing(t *testing.T) {
	t.Parallel()
	s := newSource(0)
	clk := clock.NewFake(time.Now())
	sh := s.ledger(clk, func(string) time.Time { return clk.Now() })
	if got := mustKnow(t, sh, "a").Named; len(got) != 0 || s.lists.Load() != 0 {
		t.Errorf("%v after %d listings", got, s.lists.Load())
	}
	sh.Wrote("", &thing{"1", "a"})
	if _, err := sh.Listing.All(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	_ = sh.AfterDelete("", "1", &collection.MissingError{Err: &transport.APIError{Status: 404}})
	if got := mustKnow(t, sh, "a").Named; len(got) != 0 {
		t.Errorf("what is gone is known still: %v", got)
	}
	if _, err := sh.Listing.All(t.Context(), ""); err != nil || s.lists.Load() != 1 {
		t.Errorf("%d listings, %v", s.lists.Load(), err)
	}
	_ = sh.AfterDelete("", "1", &transport.APIError{Status: 500})
	if _, err := sh.Listing.All(t.Context(), ""); err != nil || s.lists.Load() != 2 {
		t.Errorf("after a failure: %d listings, %v", s.lists.Load(), err)
	}
}

// slowly returns a Ledger whose listings take so long by its clock.
func slowly(s *source, takes time.Duration) *Ledger[thing] {
	return ledgerOf(clock.System, nil, func(ctx context.Context, _ string) ([]thing, error) {
		s.lists.Add(1)
		things := slices.Clone(s.things)
		return things, clock.System.Sleep(ctx, takes)
	})
}

// If this process writes during a listing, its own writes win, and the listing has the objects of others.
func TestLedger_writesOutdoAListingUnderWay(t *testing.T) {
	t.Parallel()
	for name, isLearnt := range map[string]bool{"the first": false, "another": true} {
		synctest.Test(t, func(t *testing.T) {
			s := &source{things: []thing{{"1", "a"}, {"2", "a"}, {"3", "a"}}}
			sh := slowly(s, time.Second)
			if isLearnt {
				mustKnow(t, sh, "a")
				time.Sleep(collection.FreshFor)
			}
			var learning sync.WaitGroup
			learning.Go(func() { mustKnow(t, sh, "a") })
			synctest.Wait()
			sh.Wrote("", &thing{"1", "b"})
			sh.Wrote("", &thing{"4", "a"})
			_ = sh.AfterDelete("", "2", nil)
			learning.Wait()
			for state, want := range map[string]string{"a": "[3 4]", "b": "[1]"} {
				if got := mustKnow(t, sh, state); fmt.Sprint(thingIDs(got.Named)) != want || !got.Has("4") {
					t.Errorf("%s: %s are %v, want %s", name, state, got.Named, want)
				}
			}
		})
	}
}

// Ten seconds are enough for all names of a collection that are taken, and all who wait for them share five listings. Those who come later
// share one.
func TestLedger_waitsOnceForAllNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		for i := range 60 {
			s.things = append(s.things, thing{id: fmt.Sprint(i), state: fmt.Sprint("name-", i)})
		}
		sh := slowly(s, 100*time.Millisecond)
		start := time.Now()
		collection.InParallel(10, 60, func(i int) error {
			hasName := isIn(fmt.Sprint("name-", i))
			time.Sleep(time.Duration(i%10) * 20 * time.Millisecond) // Resources start one after the other.
			if known := mustKnow(t, sh, fmt.Sprint("name-", i)); len(known.Named) != 1 {
				t.Errorf("known are %v", known.Named)
			}
			if taken, err := sh.UntilFree(t.Context(), "", hasName); err != nil || len(taken) != 1 {
				t.Errorf("got %v, %v", taken, err)
			}
			return nil
		})
		if took, lists := time.Since(start), s.lists.Load(); took > 12*time.Second || lists > 6+2 {
			t.Errorf("60 names took %v and %d listings", took, lists)
		}
		time.Sleep(time.Minute)
		start, s.things = time.Now(), s.things[:59]
		if taken, err := sh.UntilFree(t.Context(), "", isIn("name-0")); err != nil || len(taken) != 1 || time.Since(start) < 10*time.Second {
			t.Errorf("a name that is taken later has its own patience: %v, %v after %v", taken, err, time.Since(start))
		}
		if taken, err := sh.UntilFree(t.Context(), "", isIn("name-59")); err != nil || len(taken) != 0 {
			t.Errorf("a name that is free: %v, %v", taken, err)
		}
	})
}

// What another run frees within the ten seconds is free for whoever waits, also for those who came later.
func TestLedger_waitsForANameThatIsFreed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{things: []thing{{"1", "a"}, {"2", "b"}}}
		sh := slowly(s, time.Millisecond)
		start := time.Now()
		var waiting sync.WaitGroup
		for name, begins := range map[string]time.Duration{"a": 0, "b": 4 * time.Second} {
			waiting.Go(func() {
				time.Sleep(begins)
				if taken, err := sh.UntilFree(t.Context(), "", isIn(name)); err != nil || len(taken) != 0 || time.Since(start) > 7*time.Second {
					t.Errorf("%s: %v, %v after %v", name, taken, err, time.Since(start))
				}
			})
		}
		time.Sleep(5 * time.Second)
		s.things = nil
		waiting.Wait()
		if s.lists.Load() != 4 {
			t.Errorf("%d listings", s.lists.Load())
		}
	})
}

// A name that is found taken is in a listing after the creation asked, also if the patience was used up, and is not what this process deleted.
func TestLedger_looksAtANameThatIsTakenLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{things: []thing{{"1", "a"}, {"2", "b"}, {"3", "c"}, {"4", "c"}}}
		sh := slowly(s, time.Millisecond)
		expect := func(name, want string) {
			t.Helper()
			if taken, err := sh.UntilFree(t.Context(), "", isIn(name)); err != nil || fmt.Sprint(thingIDs(taken)) != want {
				t.Errorf("%s: taken are %v, %v", name, taken, err)
			}
		}
		expect("a", "[1]")
		time.Sleep(time.Second)
		s.things = append(s.things[:1], s.things[2:]...)
		_ = sh.AfterDelete("", "3", nil) // The service lists it still.
		start := time.Now()
		expect("b", "[]")
		expect("c", "[4]")
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
