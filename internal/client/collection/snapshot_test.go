package collection

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func mustKnow(t *testing.T, sh *Collection[thing], name string) Snapshot[thing] {
	t.Helper()
	known, err := sh.Snapshot(t.Context(), "", isIn(name))
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
func TestSnapshot_isLearnedOnceAndKept(t *testing.T) {
	t.Parallel()
	s := &source{things: []thing{{"1", "a"}, {"2", "a"}, {"3", "b"}}}
	clk := clock.NewFake(time.Now())
	sh := s.shared(clk)
	expect := func(name string, want ...string) {
		t.Helper()
		if got := thingIDs(mustKnow(t, sh, name).Wanted); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	expect("a", "1", "2")
	sh.Put("", &thing{"4", "a"})
	sh.Put("", &thing{"1", "c"})
	_ = sh.AfterDelete("", "2", nil)
	_ = sh.AfterDelete("", "unknown", nil)
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

// A creation lists again what may be out of date, even if reads still share the older listing.
func TestSnapshot_isLearnedAnew(t *testing.T) {
	t.Parallel()
	for pass, listings := range map[time.Duration]int64{0: 1, freshFor - 1: 1, freshFor: 2} {
		s := newSource(2)
		clk := clock.NewFake(time.Now())
		sh := s.shared(clk)
		mustKnow(t, sh, "")
		s.things = append(s.things[:1], thing{id: "theirs"})
		clk.Advance(pass)
		known := mustKnow(t, sh, "")
		if s.lists.Load() != listings || known.Contains("theirs") != (listings == 2) || known.Contains("1") != (listings == 1) {
			t.Errorf("after %v: %d listings, theirs is known %v", pass, s.lists.Load(), known.Contains("theirs"))
		}
	}
}

// A creation knows the objects that existed when it started, and those that this process creates meanwhile. An object that
// only a later listing shows does not count as known.
func TestSnapshot_knowsWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	s := newSource(1)
	clk := clock.NewFake(time.Now())
	sh := s.shared(clk)
	first := mustKnow(t, sh, "x")
	s.things = append(s.things, thing{id: "new"}) // The first creation commits, and its response is still in flight.
	clk.Advance(time.Hour)
	second := mustKnow(t, sh, "x")
	sh.Put("", &thing{id: "own"})
	for id, want := range map[string][2]bool{"0": {true, true}, "new": {false, true}, "own": {true, true}, "unknown": {false, false}} {
		if got := [2]bool{first.Contains(id), second.Contains(id)}; got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

// A collection whose owner this process created is known without a listing, and an object that is gone does not require one.
func TestSnapshot_beginsAndShrinksWithoutAListing(t *testing.T) {
	t.Parallel()
	s := newSource(0)
	clk := clock.NewFake(time.Now())
	sh := New(clk, 1, func(string) time.Time { return clk.Now() }, s.list)
	if got := mustKnow(t, sh, "a").Wanted; len(got) != 0 || s.lists.Load() != 0 {
		t.Errorf("%v after %d listings", got, s.lists.Load())
	}
	sh.Put("", &thing{"1", "a"})
	if _, err := sh.All(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	_ = sh.AfterDelete("", "1", &MissingError{Err: &transport.APIError{Status: 404}})
	if got := mustKnow(t, sh, "a").Wanted; len(got) != 0 {
		t.Errorf("what is gone is known still: %v", got)
	}
	if _, err := sh.All(t.Context(), ""); err != nil || s.lists.Load() != 1 {
		t.Errorf("%d listings, %v", s.lists.Load(), err)
	}
	_ = sh.AfterDelete("", "1", &transport.APIError{Status: 500})
	if _, err := sh.All(t.Context(), ""); err != nil || s.lists.Load() != 2 {
		t.Errorf("after a failure: %d listings, %v", s.lists.Load(), err)
	}
}

// slowly returns a Collection whose listings take so long by its clock.
func slowly(s *source, takes time.Duration) *Collection[thing] {
	return New(clock.System, 1, nil, func(ctx context.Context, _ string) ([]thing, error) {
		s.lists.Add(1)
		things := slices.Clone(s.things)
		return things, clock.System.Sleep(ctx, takes)
	})
}

// If this process writes during a listing, its own writes win, and the listing has the objects of others.
func TestSnapshot_writesOutdoAListingUnderWay(t *testing.T) {
	t.Parallel()
	for name, isLearnt := range map[string]bool{"the first": false, "another": true} {
		synctest.Test(t, func(t *testing.T) {
			s := &source{things: []thing{{"1", "a"}, {"2", "a"}, {"3", "a"}}}
			sh := slowly(s, time.Second)
			if isLearnt {
				mustKnow(t, sh, "a")
				time.Sleep(freshFor)
			}
			var learning sync.WaitGroup
			learning.Go(func() { mustKnow(t, sh, "a") })
			synctest.Wait()
			sh.Put("", &thing{"1", "b"})
			sh.Put("", &thing{"4", "a"})
			_ = sh.AfterDelete("", "2", nil)
			learning.Wait()
			for state, want := range map[string]string{"a": "[3 4]", "b": "[1]"} {
				if got := mustKnow(t, sh, state); fmt.Sprint(thingIDs(got.Wanted)) != want || !got.Contains("4") {
					t.Errorf("%s: %s are %v, want %s", name, state, got.Wanted, want)
				}
			}
		})
	}
}
