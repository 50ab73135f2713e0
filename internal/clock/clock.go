// Package clock is the one source of time of the provider, the client and the emulator, so that tests decide what time it is.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock tells the time and waits.
type Clock interface {
	// Now returns the present time.
	Now() time.Time
	// Sleep waits for d, or until ctx is done; then it returns the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the machine's clock.
var System Clock = system{}

type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Ahead runs with another clock, ahead of it by as much as it was advanced. A sleep takes what it takes on the other one.
type Ahead struct {
	Clock
	mu sync.Mutex
	by time.Duration
}

// NewAhead returns a clock that is ahead of another.
func NewAhead(of Clock, by time.Duration) *Ahead { return &Ahead{Clock: of, by: by} }

// Now returns the time the clock shows.
func (a *Ahead) Now() time.Time { return a.Clock.Now().Add(a.By()) }

// By is how far the clock is ahead.
func (a *Ahead) By() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by
}

// Advance moves the clock forward by d.
func (a *Ahead) Advance(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by += d
}

// Fake is a clock that moves only when somebody sleeps on it or advances it.
// A sleep returns at once and moves the clock by its length.
type Fake struct {
	mu     sync.Mutex
	now    time.Time
	sleeps []time.Duration
}

// NewFake returns a fake clock that shows start.
func NewFake(start time.Time) *Fake {
	return &Fake{now: start}
}

// Now returns the time the clock shows.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Sleep moves the clock to the end of the sleep and returns the context's error, if it has one.
func (f *Fake) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sleeps = append(f.sleeps, d)
	f.now = f.now.Add(max(d, 0))
	return nil
}

// Advance moves the clock forward by d.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// Sleeps returns every duration slept so far, in the order of the calls.
func (f *Fake) Sleeps() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Duration(nil), f.sleeps...)
}
