package transport

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// firstRate is the rate after the first 429 if no rate is configured. slowestRate is the lowest rate.
	firstRate   rate.Limit = 1
	slowestRate rate.Limit = 0.5
	// rateRaise is the factor by which an accepted request raises the rate. Until the second 429, earlyRaise is: the first rate is
	// low, because other processes may share the limit.
	rateRaise  = 1.02
	earlyRaise = 1.1
	// maxHeldBack is how long one request may wait in total if its caller sets no deadline. All requests together wait no longer
	// if the service accepts none of them.
	maxHeldBack = 5 * time.Minute
	// maxTurn is how long a turn may take. The callers who share it have deadlines of their own.
	maxTurn = 15 * time.Minute
)

// ErrHeldBack says that a request was not sent because the rate limit would delay it for too long.
var ErrHeldBack = errors.New("the rate limit delays the request")

// Gate limits the rate of requests. A 429 closes it for as long as the service requests, and halves the rate. Each accepted
// request raises the rate a little.
type Gate struct {
	clock   clock.Clock
	random  func() float64
	backoff func(failed int) time.Duration
	ceiling rate.Limit

	mu      sync.Mutex
	limiter *rate.Limiter
	// until is when the gate opens again.
	until time.Time
	// shut counts how often the gate was closed, and fruitless how often since a request was accepted.
	shut, fruitless int
	// since is when the first of these was refused.
	since time.Time
}

// Passage is the state of one request at the gate.
type Passage struct {
	// shut is the gate's count when the request passed.
	shut int
	// heldBack is how long the request has waited over all attempts, and patience is the limit.
	heldBack, patience time.Duration
	// unserved is for how long the service had accepted no request.
	unserved time.Duration
}

// Turn is permission to send one request. Its holder can decide which request when its turn has come.
type Turn struct {
	passage Passage
	place   *place
	used    atomic.Bool
}

// AwaitTurn waits until the rate limit allows another request. The error is the context's or says that this takes too long. The
// caller passes the turn back.
func (c *Conn) AwaitTurn(ctx context.Context) (turn *Turn, err error) {
	turn = &Turn{passage: Passage{patience: maxTurn}}
	turn.place, err = c.pass(ctx, &turn.passage)
	return turn, err
}

// PassBack lets another request have the turn if it was not used.
func (t *Turn) PassBack() {
	if t.place != nil && t.used.CompareAndSwap(false, true) {
		t.place.leave(0)
	}
}

// pass waits for a place in the window, and until the gate is open.
func (c *Conn) pass(ctx context.Context, p *Passage) (*place, error) {
	place, err := c.window.enter(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Gate.Enter(ctx, p); err != nil {
		place.leave(0)
		return nil, err
	}
	return place, nil
}

// NewGate returns an open gate; requestsPerSecond 0 means no limit.
func NewGate(clk clock.Clock, random func() float64, backoff func(int) time.Duration, requestsPerSecond float64) *Gate {
	ceiling := rate.Inf
	if requestsPerSecond > 0 {
		ceiling = rate.Limit(requestsPerSecond)
	}
	return &Gate{clock: clk, random: random, backoff: backoff, ceiling: ceiling, limiter: rate.NewLimiter(ceiling, max(1, int(requestsPerSecond)))}
}

// Enter waits until the request may be sent. The error is the context's or ErrHeldBack.
func (g *Gate) Enter(ctx context.Context, p *Passage) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		wait := g.reserve(p)
		if wait <= 0 {
			return nil
		}
		if err := p.mayWait(ctx, wait); err != nil {
			return err
		}
		if err := g.clock.Sleep(ctx, wait); err != nil {
			return err
		}
		p.heldBack += wait
		if g.isOpenFor(p) {
			return nil
		}
	}
}

// reserve takes the next slot and returns the time until then.
func (g *Gate) reserve(p *Passage) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.shut = g.shut
	now := g.clock.Now()
	p.unserved = 0
	if g.fruitless > 0 {
		p.unserved = now.Sub(g.since)
	}
	return g.limiter.ReserveN(latest(now, g.until), 1).DelayFrom(now)
}

// isOpenFor reports whether the gate stayed open while the request waited for its slot.
func (g *Gate) isOpenFor(p *Passage) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return p.shut == g.shut && !g.clock.Now().Before(g.until)
}

// newPassage allows waits up to the context's deadline, or maxHeldBack if there is none. A deadline is in system time, even if
// the gate has another clock.
func newPassage(ctx context.Context) Passage {
	if deadline, bounded := ctx.Deadline(); bounded {
		return Passage{patience: deadline.Sub(clock.System.Now())}
	}
	return Passage{patience: maxHeldBack}
}

// mayWait returns an error if a wait is too long.
func (p *Passage) mayWait(ctx context.Context, wait time.Duration) error {
	left := p.patience - p.heldBack
	deadline, bounded := ctx.Deadline()
	if bounded {
		left = min(left, deadline.Sub(clock.System.Now()))
	} else if p.patience == maxHeldBack {
		left = min(left, maxHeldBack-p.unserved)
	}
	switch {
	case wait <= left:
		return nil
	case bounded:
		return fmt.Errorf("%w beyond its deadline: %w", ErrHeldBack, context.DeadlineExceeded)
	}
	return fmt.Errorf("%w for more than %v", ErrHeldBack, p.patience)
}

// refused closes the gate after a 429 and returns for how long: at least as long as the service requests, and with a growing
// backoff until a request is accepted.
func (g *Gate) refused(p *Passage, requested time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock.Now()
	// Concurrent requests are often rejected together, and count once.
	if p.shut == g.shut {
		limit := g.limiter.Limit() / 2
		if g.limiter.Limit() == rate.Inf {
			limit = firstRate
		}
		g.limiter = rate.NewLimiter(max(slowestRate, limit), 1)
		if g.fruitless == 0 {
			g.since = now
		}
		requested = max(requested, g.backoff(g.fruitless))
		g.shut++
		g.fruitless++
	}
	// Jitter, so that clients that were rejected together do not retry together.
	spacing := time.Duration(float64(time.Second) / float64(g.limiter.Limit()))
	g.until = latest(g.until, now.Add(requested+time.Duration(g.random()*float64(spacing))))
	return g.until.Sub(now)
}

// accepted records a response other than 429.
func (g *Gate) accepted(p *Passage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.shut == g.shut {
		g.fruitless = 0
		raise := rate.Limit(rateRaise)
		if g.shut == 1 {
			raise = earlyRaise
		}
		g.limiter.SetLimitAt(g.clock.Now(), min(g.ceiling, g.limiter.Limit()*raise))
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
