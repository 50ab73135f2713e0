package collection

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func mustKnow(t *testing.T, sh *Inventory[thing], name string, heard time.Time) Snapshot[thing] {
	t.Helper()
	known, err := sh.Snapshot(t.Context(), "", heard, isIn(name))
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

// The inventory takes one listing, and then follows the writes of this process.
func TestInventory_isLearnedOnceAndKept(t *testing.T) {
	t.Parallel()
	s := &source{things: []thing{{"1", "a"}, {"2", "a"}, {"3", "b"}}}
	clk := clock.NewFake(time.Now())
	sh := s.shared(clk)
	expect := func(name string, want ...string) {
		t.Helper()
		if got := thingIDs(mustKnow(t, sh, name, clk.Now()).Wanted); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	expect("a", "1", "2")
	sh.Put("", &thing{"4", "a"})
	sh.Put("", &thing{"1", "c"})
	sh.AfterDelete("", "2", nil)
	sh.AfterDelete("", "unknown", nil)
	expect("a", "4")
	expect("b", "3")
	expect("c", "1")
	s.things = append(s.things, thing{"5", "a"})
	expect("a", "4")
	if got, err := sh.FindNow(t.Context(), "", isIn("a")); err != nil || len(got) != 3 {
		t.Errorf("asked anew: %v, %v", got, err)
	}
	expect("a", "4")
	if s.lists.Load() != 2 {
		t.Errorf("%d listings, want one to learn and one anew", s.lists.Load())
	}
	expect("none")
}

// The inventory is listed again when it may be out of date: when it is old, or after a silence in which others may have acted.
func TestInventory_isLearnedAnew(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pass, silence time.Duration
		listings      int64
	}{
		"at once":               {0, 0, 1},
		"busy, not for long":    {freshFor - 1, 0, 1},
		"busy, for long":        {freshFor, 0, 2},
		"after a short silence": {time.Second, idleFor - 1, 1},
		"after a silence":       {3 * time.Second, idleFor, 2},
	} {
		s := newSource(2)
		clk := clock.NewFake(time.Now())
		sh := s.shared(clk)
		mustKnow(t, sh, "", clk.Now())
		s.things = append(s.things[:1], thing{id: "theirs"})
		clk.Advance(tc.pass)
		known := mustKnow(t, sh, "", clk.Now().Add(-tc.silence))
		if s.lists.Load() != tc.listings || known.Contains("theirs") != (tc.listings == 2) || known.Contains("1") != (tc.listings == 1) {
			t.Errorf("%s: %d listings, theirs is known %v", name, s.lists.Load(), known.Contains("theirs"))
		}
	}
}

// An inventory is never filled from a listing that is older than idleFor.
func TestInventory_learnsFromNoOldListing(t *testing.T) {
	t.Parallel()
	for age, listings := range map[time.Duration]int64{idleFor - 1: 1, idleFor: 2} {
		s := newSource(1)
		clk := clock.NewFake(time.Now())
		sh := s.shared(clk)
		mustKnow(t, sh, "", clk.Now())
		clk.Advance(age)
		mustKnow(t, sh, "", clk.Now().Add(-idleFor))
		if s.lists.Load() != listings {
			t.Errorf("%d listings where the last one is %v old", s.lists.Load(), age)
		}
	}
}

// A service may show a new object late, so a listing without it does not remove it from the inventory.
func TestInventory_keepsWhatWasJustMade(t *testing.T) {
	t.Parallel()
	s := newSource(1)
	clk := clock.NewFake(time.Now())
	sh := s.shared(clk)
	mustKnow(t, sh, "x", clk.Now())
	sh.Put("", &thing{"own", "x"})
	clk.Advance(time.Hour)
	if got := fmt.Sprint(thingIDs(mustKnow(t, sh, "x", clk.Now()).Wanted)); got != "[own]" {
		t.Errorf("known: %s", got)
	}
}

// A creation knows the objects that existed when it started, and those that this process creates meanwhile. An object that
// only a later listing shows does not count as known.
func TestInventory_knowsWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	s := newSource(1)
	clk := clock.NewFake(time.Now())
	sh := s.shared(clk)
	first := mustKnow(t, sh, "x", clk.Now())
	s.things = append(s.things, thing{id: "new"}) // The first creation commits, and its response is still in flight.
	clk.Advance(time.Hour)
	second := mustKnow(t, sh, "x", clk.Now())
	sh.Put("", &thing{id: "own"})
	for id, want := range map[string][2]bool{"0": {true, true}, "new": {false, true}, "own": {true, true}, "unknown": {false, false}} {
		if got := [2]bool{first.Contains(id), second.Contains(id)}; got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

func TestInventory_aFailureIsToldAndNotKept(t *testing.T) {
	t.Parallel()
	s := newSource(1)
	s.err = &transport.APIError{Status: 500}
	clk := clock.NewFake(time.Now())
	sh := s.shared(clk)
	if _, err := sh.Snapshot(t.Context(), "", clk.Now(), isIn("x")); transport.StatusOf(err) != 500 {
		t.Errorf("got %v", err)
	}
	s.err = nil
	if got := mustKnow(t, sh, "", clk.Now()).Wanted; len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// ownerAt is an owner that this process created or deleted.
type ownerAt struct {
	created time.Time
	deleted atomic.Pointer[time.Time]
}

func (o *ownerAt) CreatedAt(string) time.Time { return o.created }

func (o *ownerAt) DeletedAt(string) time.Time {
	if at := o.deleted.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// The objects of a deleted owner are listed again, once, even if a listing was in flight.
func TestShared_ownerIsDeleted(t *testing.T) {
	t.Parallel()
	for _, takes := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s, owner := newSource(2), &ownerAt{}
			sh := slowly(s, takes)
			sh.owner = owner
			read := func() {
				if _, err := sh.All(t.Context(), ""); err != nil {
					t.Error(err)
				}
			}
			var reading sync.WaitGroup
			reading.Go(read)
			time.Sleep(time.Second)
			deleted := time.Now()
			owner.deleted.Store(&deleted)
			time.Sleep(time.Second)
			for range 3 {
				read()
			}
			reading.Wait()
			if s.lists.Load() != 2 {
				t.Errorf("listing takes %v: %d listings", takes, s.lists.Load())
			}
		})
	}
}

// A collection whose owner this process created is known without a listing, and an object that is gone does not require one.
func TestInventory_beginsAndShrinksWithoutAListing(t *testing.T) {
	t.Parallel()
	s := newSource(0)
	clk := clock.NewFake(time.Now())
	sh := NewInventory(clk, &ownerAt{created: clk.Now()}, 1, s.list)
	if got := mustKnow(t, sh, "a", clk.Now()).Wanted; len(got) != 0 || s.lists.Load() != 0 {
		t.Errorf("%v after %d listings", got, s.lists.Load())
	}
	sh.Put("", &thing{"1", "a"})
	if _, err := sh.All(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	sh.AfterDelete("", "1", &MissingError{Err: &transport.APIError{Status: 404}})
	if got := mustKnow(t, sh, "a", clk.Now()).Wanted; len(got) != 0 {
		t.Errorf("what is gone is known still: %v", got)
	}
	if _, err := sh.All(t.Context(), ""); err != nil || s.lists.Load() != 1 {
		t.Errorf("%d listings, %v", s.lists.Load(), err)
	}
	sh.AfterDelete("", "1", &transport.APIError{Status: 500})
	if _, err := sh.All(t.Context(), ""); err != nil || s.lists.Load() != 2 {
		t.Errorf("after a failure: %d listings, %v", s.lists.Load(), err)
	}
}

// Reads by ID and by name cost the same for any number of objects, because they never scan the listing.
func BenchmarkShared_lookUp(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newSource(n)
			sh := s.shared(clock.NewFake(time.Now()))
			for b.Loop() {
				if found, err := sh.Lookup(b.Context(), "", "7"); err != nil || found == nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// slowly returns an Inventory whose listings take so long by its clock.
func slowly(s *source, takes time.Duration) *Inventory[thing] {
	return NewInventory(clock.System, nil, 1, func(ctx context.Context, _ string) ([]thing, error) {
		s.lists.Add(1)
		things := slices.Clone(s.things)
		return things, clock.System.Sleep(ctx, takes)
	})
}

// One listing serves all waiters, even if this process creates objects meanwhile, so many creations need few listings.
func TestInventory_learnersShareAListing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, parallelism = 100, 10
		s := newSource(3)
		sh := slowly(s, 3*time.Second)
		left := make(chan int, n)
		for k := range n {
			left <- k
		}
		close(left)
		var creating sync.WaitGroup
		for worker := range parallelism {
			creating.Go(func() {
				for k := range left {
					mustKnow(t, sh, "", time.Now())
					time.Sleep(3*time.Second + time.Duration(worker)*300*time.Millisecond)
					sh.Put("", &thing{id: fmt.Sprint("own", k)})
					sh.InvalidateAll()
				}
			})
		}
		creating.Wait()
		if lists := s.lists.Load(); lists > 6 {
			t.Errorf("%d listings within %v", lists, 60*time.Second)
		}
	})
}

// If this process writes during a listing, its own writes win, and the listing has the objects of others.
func TestInventory_writesOutdoAListingUnderWay(t *testing.T) {
	t.Parallel()
	for name, isLearnt := range map[string]bool{"the first": false, "another": true} {
		synctest.Test(t, func(t *testing.T) {
			s := &source{things: []thing{{"1", "a"}, {"2", "a"}, {"3", "a"}}}
			sh := slowly(s, time.Second)
			if isLearnt {
				mustKnow(t, sh, "a", time.Now())
				time.Sleep(freshFor)
			}
			var learning sync.WaitGroup
			learning.Go(func() { mustKnow(t, sh, "a", time.Now()) })
			synctest.Wait()
			sh.Put("", &thing{"1", "b"})
			sh.Put("", &thing{"4", "a"})
			sh.AfterDelete("", "2", nil)
			learning.Wait()
			for state, want := range map[string]string{"a": "[3 4]", "b": "[1]"} {
				if got := mustKnow(t, sh, state, time.Now()); fmt.Sprint(thingIDs(got.Wanted)) != want || !got.Contains("4") {
					t.Errorf("%s: %s are %v, want %s", name, state, got.Wanted, want)
				}
			}
		})
	}
}

// A slow listing is not an old one.
func TestInventory_learnsFromASlowListing(t *testing.T) {
	t.Parallel()
	for _, isOver := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newSource(1)
			sh := slowly(s, 2*SharedLifetime)
			var reading sync.WaitGroup
			reading.Go(func() {
				if _, err := sh.All(t.Context(), ""); err != nil {
					t.Error(err)
				}
			})
			if isOver {
				reading.Wait()
			} else {
				time.Sleep(SharedLifetime)
			}
			mustKnow(t, sh, "", time.Now())
			mustKnow(t, sh, "", time.Now())
			reading.Wait()
			if s.lists.Load() != 1 {
				t.Errorf("over %v: %d listings", isOver, s.lists.Load())
			}
		})
	}
}
