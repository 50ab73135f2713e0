package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// slowestPace is the pace that is kept however often the service refuses, in requests per second.
	slowestPace = 0.5
	// paceSpan is the time before a refusal from which the pace is learned.
	paceSpan = time.Second
	// raiseAfter is for how long no request must be refused until a learned pace is raised, and longestRun how many requests suffice.
	raiseAfter = 4 * time.Second
	longestRun = 20
	// maxHeldBack is how long one request is held back because of refusals, where its caller sets no deadline.
	maxHeldBack = 15 * time.Minute
)

// errHeldBack says that a request was not sent because the service's rate limit leaves no time for it.
var errHeldBack = errors.New("the service's rate limit holds the request back")

// gate lets the requests of a client pass. An answer 429 holds all of them back until the time that the service asks
// for, and from the first one on the gate spreads requests evenly at a pace that it learns.
//
// The service acts on none of the requests that it refuses, and those which were under way together are refused
// together. So they count as one event, of which the first sets the pace and every further one reduces it.
type gate struct {
	clock   clock.Clock
	random  func() float64
	backoff func(failed int) time.Duration
	// ceiling is the configured rate; nil is none.
	ceiling *rate.Limiter

	mu sync.Mutex
	// pace is in requests per second; 0 until it is learned.
	pace float64
	// until is when the gate opens, next the first moment that no request has taken.
	until, next time.Time
	// event counts the events, at is the time of the last one, spread its random part, fruitless how many came in a row.
	event     int
	at        time.Time
	spread    float64
	fruitless int
	// passed is when the requests that were not refused went through, within paceSpan, until the pace is learned.
	passed []time.Time
	// run counts the answers since the last event or raise, refusals not included.
	run int
}

// passage is one request's way through the gate.
type passage struct {
	// at is when it went through, event how many events there had been.
	at    time.Time
	event int
	// heldBack is how long it has waited because of refusals, over all its attempts, and patience how long it may.
	heldBack, patience time.Duration
	// answered says that the answer of the present attempt is taken into account.
	answered bool
}

func newGate(clk clock.Clock, random func() float64, backoff func(int) time.Duration, requestsPerSecond float64) *gate {
	g := &gate{clock: clk, random: random, backoff: backoff}
	if requestsPerSecond > 0 {
		g.ceiling = rate.NewLimiter(rate.Limit(requestsPerSecond), max(1, int(requestsPerSecond)))
	}
	return g
}

// enter waits for the request's turn. The error is the context's or errHeldBack.
func (g *gate) enter(ctx context.Context, p *passage) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if g.ceiling != nil {
		now := g.clock.Now()
		if err := g.sleep(ctx, g.ceiling.ReserveN(now, 1).DelayFrom(now)); err != nil {
			return err
		}
	}
	for {
		wait, event := g.slot()
		if err := p.mayWait(ctx, wait); err != nil {
			return err
		}
		if err := g.sleep(ctx, wait); err != nil {
			return err
		}
		p.heldBack += wait
		if g.pass(p, event) {
			return nil
		}
	}
}

func (g *gate) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	return g.clock.Sleep(ctx, d)
}

// slot takes the next free moment and returns how far it is.
func (g *gate) slot() (wait time.Duration, event int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock.Now()
	at := latest(now, g.until)
	if g.pace > 0 {
		at = latest(at, g.next)
		g.next = at.Add(g.gap())
	}
	return at.Sub(now), g.event
}

// pass lets the request through unless the gate was shut while it waited for its moment.
func (g *gate) pass(p *passage, event int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock.Now()
	if g.event != event || now.Before(g.until) {
		return false
	}
	p.at, p.event, p.answered = now, event, false
	return true
}

// newPassage allows waits up to the context's deadline, or maxHeldBack where there is none. A deadline belongs to the
// machine's clock, so what is left of it is measured by that.
func newPassage(ctx context.Context) passage {
	if deadline, bounded := ctx.Deadline(); bounded {
		return passage{patience: deadline.Sub(clock.System.Now())}
	}
	return passage{patience: maxHeldBack}
}

// mayWait refuses a wait that is in vain.
func (p *passage) mayWait(ctx context.Context, wait time.Duration) error {
	deadline, bounded := ctx.Deadline()
	switch {
	case wait <= 0:
		return nil
	case bounded && (wait > deadline.Sub(clock.System.Now()) || p.heldBack+wait > p.patience):
		return fmt.Errorf("%w beyond its deadline: %w", errHeldBack, context.DeadlineExceeded)
	case p.heldBack+wait > p.patience:
		return fmt.Errorf("%w for more than %v", errHeldBack, p.patience)
	}
	return nil
}

// refused shuts the gate after an answer 429 and returns for how long: until the time that the service asks for, but
// longer and longer while nothing at all gets through.
func (g *gate) refused(p *passage, asked time.Duration, isAsked bool) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock.Now()
	if p.answered {
		return g.until.Sub(now)
	}
	p.answered = true
	if p.event == g.event {
		g.event++
		g.at, g.spread, g.run = now, g.random(), 0
		g.slowDown()
		asked, isAsked = max(asked, g.backoff(g.fruitless)), true
		g.fruitless++
		g.next = now.Add(g.gap())
	}
	if isAsked {
		// A little later than asked for, so that the clients which were refused together do not return together.
		g.until = latest(g.until, now.Add(asked+time.Duration(g.spread*float64(asked)/10)))
	}
	return g.until.Sub(now)
}

// slowDown sets the pace to what got through before, or reduces it by a third where it was learned already.
func (g *gate) slowDown() {
	if g.pace > 0 {
		g.setPace(g.pace * 2 / 3)
		return
	}
	g.forget(g.at)
	g.setPace(float64(len(g.passed)))
}

// accepted takes note of an answer other than 429.
func (g *gate) accepted(p *passage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.answered {
		return
	}
	p.answered = true
	switch {
	case p.event == g.event:
		g.fruitless = 0
		if g.pace == 0 {
			g.passed = append(g.passed, p.at)
			g.forget(g.clock.Now())
		} else if g.run++; g.run >= min(longestRun, int(g.pace*raiseAfter.Seconds())) {
			g.run = 0
			g.setPace(g.pace * g.raise())
		}
	case g.event == 1 && !p.at.Before(g.at.Add(-paceSpan)):
		// It was under way at the first event, which did not know yet that it would get through.
		g.passed = append(g.passed, p.at)
		g.setPace(float64(len(g.passed)))
	}
}

// raise is the factor by which a pace grows that was not refused for a while. One that was learned from a single event
// may rest on few requests, so it is doubled until the next event shows where the limit is.
func (g *gate) raise() float64 {
	if g.event == 1 {
		return 2
	}
	return 1.05
}

// setPace keeps a pace within its bounds.
func (g *gate) setPace(pace float64) {
	if g.ceiling != nil {
		pace = min(pace, float64(g.ceiling.Limit()))
	}
	g.pace = max(slowestPace, pace)
}

// gap is the time from one request to the next.
func (g *gate) gap() time.Duration { return time.Duration(float64(time.Second) / g.pace) }

// forget drops what passed more than paceSpan before now.
func (g *gate) forget(now time.Time) {
	g.passed = slices.DeleteFunc(g.passed, func(at time.Time) bool { return at.Before(now.Add(-paceSpan)) })
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
