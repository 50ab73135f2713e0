package transport

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// Rates are in requests per second. The tests of internal/acctest/bench simulate them.
const (
	// quickRate is the highest rate after a 429. Each accepted request then raises the rate by half, and by half of that after a further
	// 429, down to slowRaise. A 429 more than calmTime ago is forgotten.
	quickRate, slowestRate = 4.0, 0.5
	quickRaise, slowRaise  = 0.5, 0.02
	calmTime               = 15 * time.Second
	// sharedRate and slowRaise are for limits that other processes share: fewer than sharedRun requests were accepted between two 429s.
	sharedRate, sharedRun = 1.0, 3
	// patience is how long a call goes on while the service accepts nothing, or refuses this call.
	patience = 5 * time.Minute
)

// ErrHeldBack says that a request was not sent because the rate limit would delay it for too long.
var ErrHeldBack = errors.New("the rate limit delays the request")

// limiter spaces out the requests of a process, in the order in which they come. A 429 stops all of them for as long as the service
// requests, and slows them down. Accepted requests speed them up again. It does not count requests in flight, so a slow one holds back
// no other.
type limiter struct {
	clock   clock.Clock
	random  func() float64
	backoff func(failed int) time.Duration
	ceiling float64

	mu          sync.Mutex
	queue       []*ticket
	rate, raise float64
	// last is when the last request was sent, and until is when a 429 allows the next one.
	last, until time.Time
	// refusals counts 429s. Requests in flight together are often refused together, and count once.
	refusals int
	// refusedInARow counts the refusals since a request was accepted, the first of them at since, and the last one of all at refusedAt.
	refusedInARow    int
	since, refusedAt time.Time
	// accepts counts the accepted requests since the last refusal.
	accepts int
	shared  bool
}

// ticket is what the limiter knows of a call.
type ticket struct {
	// refusals is the limiter's count when the last attempt was sent.
	refusals int
	// refusedAt is when the first attempt was refused.
	refusedAt time.Time
}

// newLimiter returns a limiter. With requestsPerSecond 0, only the service limits the rate.
func newLimiter(clk clock.Clock, random func() float64, backoff func(failed int) time.Duration, requestsPerSecond float64) *limiter {
	l := &limiter{clock: clk, random: random, backoff: backoff, ceiling: requestsPerSecond, raise: 2 * quickRaise}
	l.setRate(math.Inf(1))
	return l
}

func (l *limiter) setRate(rate float64) {
	l.rate = max(rate, slowestRate)
	if l.ceiling > 0 {
		l.rate = min(l.rate, l.ceiling)
	}
}

func (l *limiter) spacing() time.Duration { return time.Duration(float64(time.Second) / l.rate) }

// wait waits until an attempt may be sent. The error is the context's or ErrHeldBack.
func (l *limiter) wait(ctx context.Context, t *ticket) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, t)
	defer func() {
		at := slices.Index(l.queue, t)
		l.queue = slices.Delete(l.queue, at, at+1)
	}()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := l.clock.Now()
		left := latest(l.until, l.last.Add(l.spacing())).Sub(now)
		if left < -calmTime { // No call has asked meanwhile.
			l.refusedInARow = 0
		}
		if l.queue[0] != t {
			left = max(left, l.spacing(), time.Millisecond) // The rate may rise meanwhile, so this is not its share of the queue.
		} else if left <= 0 {
			l.last, t.refusals = now, l.refusals
			return nil
		}
		if err := l.mayWait(ctx, t, left); err != nil {
			return err
		}
		if err := l.sleep(ctx, left); err != nil {
			return err
		}
	}
}

func (l *limiter) sleep(ctx context.Context, d time.Duration) error {
	l.mu.Unlock()
	defer l.mu.Lock()
	return l.clock.Sleep(ctx, d)
}

// mayWait returns an error if a wait is too long. A deadline is in system time, even if the limiter has another clock.
func (l *limiter) mayWait(ctx context.Context, t *ticket, wait time.Duration) error {
	end := l.clock.Now().Add(wait)
	if deadline, bounded := ctx.Deadline(); bounded && wait > deadline.Sub(clock.System.Now()) {
		return fmt.Errorf("%w beyond its deadline: %w", ErrHeldBack, context.DeadlineExceeded)
	}
	if l.refusedInARow > 0 && end.Sub(l.since) > patience || !t.refusedAt.IsZero() && end.Sub(t.refusedAt) > patience {
		return fmt.Errorf("%w for more than %v", ErrHeldBack, patience)
	}
	return nil
}

// refused records a 429. The error says that the call should not go on.
func (l *limiter) refused(ctx context.Context, t *ticket, requested time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if t.refusedAt.IsZero() {
		t.refusedAt = now
	}
	if t.refusals == l.refusals {
		if l.refusedInARow == 0 {
			l.slowDown()
			l.since = now
		}
		backoff := l.backoff(l.refusedInARow)
		if !l.shared {
			backoff /= 4
		}
		requested = max(requested, backoff)
		l.refusals++
		l.refusedInARow++
		l.accepts, l.refusedAt = 0, now
	}
	// Jitter, so that processes that were refused together do not come back together.
	l.until = latest(l.until, now.Add(requested+time.Duration(2*l.random()*float64(l.spacing()))))
	return l.mayWait(ctx, t, l.until.Sub(now))
}

// slowDown halves the rate, once for all refusals until a request is accepted: these only say that it is too early.
func (l *limiter) slowDown() {
	l.shared = l.shared || l.refusals > 0 && l.accepts < sharedRun
	l.raise = max(l.raise/2, slowRaise)
	highest := quickRate
	if l.shared {
		l.raise, highest = slowRaise, sharedRate
	}
	l.setRate(min(l.rate/2, highest))
}

// accepted records a response other than 429.
func (l *limiter) accepted(t *ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.refusals != l.refusals {
		return // It was sent before the refusal, and says nothing about the rate since.
	}
	l.refusedInARow = 0
	l.accepts++
	if l.refusals > 0 && l.clock.Now().Sub(l.refusedAt) > calmTime {
		l.shared, l.raise = false, quickRaise
	}
	l.setRate(l.rate * (1 + l.raise))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
