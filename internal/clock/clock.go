// Package clock is the only source of time for the provider, the client, and the emulator, so that tests can control it.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock returns the time and sleeps.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// Sleep waits for d. If ctx ends first, it returns the context's error.
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

// Ahead is another clock plus an offset. A sleep takes as long as on the other clock.
type Ahead struct {
	Clock
	mu sync.Mutex
	by time.Duration
}

// NewAhead returns a clock that is ahead of another clock.
func NewAhead(of Clock, by time.Duration) *Ahead { return &Ahead{Clock: of, by: by} }

// Now returns the other clock's time plus the offset.
func (a *Ahead) Now() time.Time { return a.Clock.Now().Add(a.By()) }

// By returns the offset.
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

// Fake is a clock that moves only when it is advanced or something sleeps on it. A sleep returns immediately and moves the
// clock by its duration.
type Fake struct {
	mu     sync.Mutex
	now    time.Time
	sleeps []time.Duration
}

// NewFake returns a fake clock set to start.
func NewFake(start time.Time) *Fake {
	return &Fake{now: start}
}

// Now returns the clock's time.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Sleep moves the clock to the end of the sleep. If the context has ended, it returns the context's error.
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

// Sleeps returns the duration of every sleep so far, in order.
func (f *Fake) Sleeps() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Duration(nil), f.sleeps...)
}
