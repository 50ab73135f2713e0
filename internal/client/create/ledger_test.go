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

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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

func (s *source) ledger(clk clock.Clock) *Ledger[thing] { return ledgerOf(clk, s.list) }

func ledgerOf(clk clock.Clock, list func(context.Context, string) ([]thing, error)) *Ledger[thing] {
	return NewLedger(&transport.Conn{Clock: clk}, list)
}

func mustKnow(t *testing.T, ledger *Ledger[thing]) View[thing] {
	t.Helper()
	known, err := ledger.View(t.Context(), "")
	check.Must(t, err)
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
	ledger := s.ledger(clk)
	expect := func(name string, want ...string) {
		t.Helper()
		if got := thingIDs(mustKnow(t, ledger).Find(isIn(name))); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	expect("a", "1", "2")
	ledger.Wrote("", &thing{"4", "a"})
	ledger.Wrote("", &thing{"1", "c"})
	_ = ledger.AfterDelete("", "2", nil)
	_ = ledger.AfterDelete("", "unknown", nil)
	expect("a", "4")
	expect("b", "3")
	expect("c", "1")
	s.things = append(s.things, thing{"5", "a"})
	expect("a", "4")
	if got, err := ledger.Relist(t.Context(), "", isIn("a")); err != nil || len(got) != 3 {
		t.Errorf("asked anew: %v, %v", got, err)
	}
	expect("a", "4", "5")
	check.Is(t, "listings", s.lists.Load(), 2)
	expect("none")
}

// A creation lists again what may be out of date, even if reads still share the older listing.
func TestLedger_isLearnedAnew(t *testing.T) {
	t.Parallel()
	for pass, listings := range map[time.Duration]int64{0: 1, collection.FreshFor - 1: 1, collection.FreshFor: 2} {
		s := newSource(2)
		clk := clock.NewFake(time.Now())
		ledger := s.ledger(clk)
		mustKnow(t, ledger)
		s.things = append(s.things[:1], thing{id: "theirs"})
		clk.Advance(pass)
		known := mustKnow(t, ledger)
		if s.lists.Load() != listings || known.CannotBeNew("theirs") != (listings == 2) || known.CannotBeNew("1") != (listings == 1) {
			t.Errorf("after %v: %d listings, theirs is known %v", pass, s.lists.Load(), known.CannotBeNew("theirs"))
		}
	}
}

// A listing that a read has made is as old for creations as it is.
func TestLedger_countsTheAgeOfAListingFromItsRead(t *testing.T) {
	t.Parallel()
	s, clk := newSource(1), clock.NewFake(time.Now())
	ledger := s.ledger(clk)
	if _, err := ledger.All(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for listings, pass := range []time.Duration{collection.FreshFor - 1, 1} {
		clk.Advance(pass)
		if mustKnow(t, ledger); s.lists.Load() != int64(listings+1) {
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
	ledger := s.ledger(clk)
	first := mustKnow(t, ledger)
	s.things = append(s.things, thing{id: "new"}) // The first creation commits, and its response is still in flight.
	clk.Advance(time.Hour)
	second := mustKnow(t, ledger)
	ledger.Wrote("", &thing{id: "own"})
	for id, want := range map[string][2]bool{"0": {true, true}, "new": {false, true}, "own": {true, true}, "unknown": {false, false}} {
		check.Is(t, id, [2]bool{first.CannotBeNew(id), second.CannotBeNew(id)}, want)
	}
}

// A collection whose owner this process created is known without a listing, and an object that is gone does not require one.
func TestLedger_beginsAndShrinksWithoutAListing(t *testing.T) {
	t.Parallel()
	s := newSource(0)
	clk := clock.NewFake(time.Now())
	ledger := s.ledger(clk)
	ledger.Begin("")
	if got := mustKnow(t, ledger).Find(isIn("a")); len(got) != 0 || s.lists.Load() != 0 {
		t.Errorf("%v after %d listings", got, s.lists.Load())
	}
	ledger.Wrote("", &thing{"1", "a"})
	if _, err := ledger.All(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	_ = ledger.AfterDelete("", "1", &collection.MissingError{Err: &transport.APIError{Status: 404}})
	check.Is(t, "known of what is gone", len(mustKnow(t, ledger).Find(isIn("a"))), 0)
	if _, err := ledger.All(t.Context(), ""); err != nil || s.lists.Load() != 1 {
		t.Errorf("%d listings, %v", s.lists.Load(), err)
	}
	_ = ledger.AfterDelete("", "1", &transport.APIError{Status: 500})
	if _, err := ledger.All(t.Context(), ""); err != nil || s.lists.Load() != 2 {
		t.Errorf("after a failure: %d listings, %v", s.lists.Load(), err)
	}
}

// slowly returns a Ledger whose listings take so long by its clock.
func slowly(s *source, takes time.Duration) *Ledger[thing] {
	return ledgerOf(clock.System, func(ctx context.Context, _ string) ([]thing, error) {
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
			ledger := slowly(s, time.Second)
			if isLearnt {
				mustKnow(t, ledger)
				time.Sleep(collection.FreshFor)
			}
			var learning sync.WaitGroup
			learning.Go(func() { mustKnow(t, ledger) })
			synctest.Wait()
			ledger.Wrote("", &thing{"1", "b"})
			ledger.Wrote("", &thing{"4", "a"})
			_ = ledger.AfterDelete("", "2", nil)
			learning.Wait()
			for state, want := range map[string]string{"a": "[3 4]", "b": "[1]"} {
				if known := mustKnow(t, ledger); fmt.Sprint(thingIDs(known.Find(isIn(state)))) != want || !known.CannotBeNew("4") {
					t.Errorf("%s: %s are %v, want %s", name, state, known.Find(isIn(state)), want)
				}
			}
		})
	}
}
