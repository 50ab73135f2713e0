package memo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// counter counts its reads. While gate is not nil, they wait for it.
type counter struct {
	reads int
	gate  chan struct{}
	err   error
}

func (c *counter) read(context.Context) (int, error) {
	if c.gate != nil {
		<-c.gate
	}
	c.reads++
	return c.reads, c.err
}

func TestMemo_sharesOneRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{gate: make(chan struct{})}
		m := New[int](clock.System, time.Minute)
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				if got, err := m.Get(t.Context(), "a", c.read); got != 1 || err != nil {
					t.Errorf("got %d, %v", got, err)
				}
			})
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Get(canceled, "a", c.read); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that leaves: %v", err)
		}
		close(c.gate)
		callers.Wait()
		if got, err := m.Get(canceled, "a", c.read); got != 1 || err != nil {
			t.Errorf("what is there is returned even then: %d, %v", got, err)
		}
	})
}

func TestMemo_expiresAndIsDropped(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lifetime time.Duration
		between  func(m *Memo[int], clk *clock.Fake)
		want     int
	}{
		"over":            {time.Minute, func(_ *Memo[int], clk *clock.Fake) { clk.Advance(time.Minute) }, 2},
		"for ever":        {0, func(_ *Memo[int], clk *clock.Fake) { clk.Advance(1000 * time.Hour) }, 1},
		"dropped":         {0, func(m *Memo[int], _ *clock.Fake) { m.Drop("b", "a") }, 2},
		"all are dropped": {0, func(m *Memo[int], _ *clock.Fake) { m.DropAll() }, 2},
		"older":           {0, func(m *Memo[int], clk *clock.Fake) { clk.Advance(5); m.DropOlder("a", 5) }, 2},
		"not older":       {0, func(m *Memo[int], clk *clock.Fake) { clk.Advance(5); m.DropOlder("a", 6) }, 1},
	} {
		c, clk := &counter{}, clock.NewFake(time.Now())
		m := New[int](clk, tc.lifetime)
		_, _ = m.Get(t.Context(), "a", c.read)
		tc.between(m, clk)
		if got, err := m.Get(t.Context(), "a", c.read); got != tc.want || err != nil {
			t.Errorf("%s: read %d, want %d, %v", name, got, tc.want, err)
		}
	}
}

// Those who wait get the error of a failed read. The next call reads again.
func TestMemo_failures(t *testing.T) {
	t.Parallel()
	for lifetime, reads := range map[time.Duration]int{time.Minute: 2, 0: 2} {
		c := &counter{err: errors.New("broken")}
		m := New[int](clock.System, lifetime)
		for range 2 {
			if _, err := m.Get(t.Context(), "a", c.read); !errors.Is(err, c.err) {
				t.Errorf("got %v", err)
			}
		}
		check.Is(t, fmt.Sprint("reads within ", lifetime), c.reads, reads)
	}
}

// A value that is dropped while it is being read is not kept, and a slow read is never too old.
func TestMemo_dropsWhatIsBeingRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counter{gate: make(chan struct{})}
		m := New[int](clock.System, time.Minute)
		first := m.Start(t.Context(), "a", c.read)
		time.Sleep(time.Hour)
		m.DropOlder("a", 0)
		if m.Current("a") != first || first.IsRead() {
			t.Error("a slow read counts as old")
		}
		m.Drop("a")
		close(c.gate)
		if got, err := first.Wait(t.Context()); got != 1 || err != nil || m.Current("a") != nil {
			t.Errorf("got %d, %v", got, err)
		}
	})
}
