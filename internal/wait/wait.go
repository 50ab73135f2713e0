// Package wait follows an object of the service until it has reached a state.
package wait

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// pauses stand before the looks; the last one repeats. What is quick is seen quickly, and what is slow is not asked for often.
var pauses = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second}

const (
	// notFoundPatience is how long looks may answer 404 before the object counts as gone: a service may show a new object late.
	notFoundPatience = 15 * time.Second
	// lastLookPatience is how long the look at the deadline may take.
	lastLookPatience = 10 * time.Second
)

// errNoAnswer is why a look failed that ran into the end of the wait.
var errNoAnswer = errors.New("the service did not answer")

// States groups the statuses of an object. One that is in no group counts as in progress and is logged.
type States struct {
	Done, InProgress, Failed []string
}

// Object says what is waited for and how it is read.
type Object[T any] struct {
	// Start is the object as it is known when the wait starts, such as its create answered it. It may be nil.
	Start *T
	// Next returns the object as a look finds it that comes after pause at the latest.
	Next func(ctx context.Context, pause time.Duration) (*T, error)
	// Status returns the object's status.
	Status func(*T) string
	States States
	// OnChange is called with the start, and when the status has changed; it may be nil.
	OnChange func(*T)
}

// FailedError says that the object reached one of the failed states.
type FailedError struct{ Status string }

func (e *FailedError) Error() string { return fmt.Sprintf("the status is %q", e.Status) }

// TimeoutError says that the time was up before a final state was reached. The work goes on at the service.
type TimeoutError struct {
	// Status is the last one seen, or empty.
	Status string
	Waited time.Duration
	// Err is why the last look failed, if it did.
	Err error
}

func (e *TimeoutError) Error() string {
	text := fmt.Sprintf("the status is still %q after %s", e.Status, e.Waited.Round(time.Second))
	if e.Status == "" {
		text = fmt.Sprintf("no status could be read in %s", e.Waited.Round(time.Second))
	}
	if e.Err != nil {
		text += fmt.Sprintf(" (the last request failed: %v)", e.Err)
	}
	return text
}

func (e *TimeoutError) Unwrap() error { return e.Err }

// For looks until the object is done, has failed, is gone, or timeout is over, and then once more. It returns the object
// as last seen, also beside an error; nil if it was never seen. Errors are *FailedError, *TimeoutError, the context's,
// or the service's where looking on is useless.
func For[T any](ctx context.Context, clk clock.Clock, timeout time.Duration, object Object[T]) (*T, error) {
	started := clk.Now()
	deadline := started.Add(timeout)
	// The clock bounds the wait; the context bounds a look that hangs.
	lookCtx, cancel := context.WithTimeout(ctx, max(timeout, 0)+lastLookPatience)
	defer cancel()

	f := follower[T]{Object: object, clock: clk}
	if object.Start != nil {
		if ended, err := f.see(ctx, object.Start); ended {
			return f.last, err
		}
	}
	for looks := 0; ; looks++ {
		left := max(deadline.Sub(clk.Now()), 0)
		pause := min(pauses[min(looks, len(pauses)-1)], left)
		next, err := object.Next(lookCtx, pause)
		if ctx.Err() != nil {
			return f.last, ctx.Err()
		}
		if ended, err := f.take(ctx, next, err); ended {
			return f.last, err
		}
		waited := clk.Now().Sub(started)
		switch {
		case lookCtx.Err() != nil:
			return f.last, &TimeoutError{Status: f.status, Waited: waited, Err: errNoAnswer}
		case pause == left && waited >= timeout:
			return f.last, &TimeoutError{Status: f.status, Waited: waited, Err: f.lookErr}
		}
	}
}

// follower remembers what was seen of an object.
type follower[T any] struct {
	Object[T]
	clock  clock.Clock
	last   *T
	status string
	// lookErr is why the last look failed, and missingSince when the first one answered 404 since the object was last seen.
	lookErr      error
	missingSince time.Time
}

// take notes what a look brought and reports whether that ends the wait, and how.
func (f *follower[T]) take(ctx context.Context, next *T, err error) (ended bool, _ error) {
	f.lookErr = err
	switch {
	case err == nil:
		f.missingSince = time.Time{}
		return f.see(ctx, next)
	case !transport.IsNotFound(err):
		return isFinal(err), err
	case f.missingSince.IsZero():
		f.missingSince = f.clock.Now()
	}
	return f.clock.Now().Sub(f.missingSince) >= notFoundPatience, err
}

// see notes the object's status and reports whether it is a final one.
func (f *follower[T]) see(ctx context.Context, next *T) (ended bool, _ error) {
	changed := f.last == nil || f.Status(next) != f.status
	f.last, f.status = next, f.Status(next)
	if changed && f.OnChange != nil {
		f.OnChange(next)
	}
	switch {
	case slices.Contains(f.States.Done, f.status):
		return true, nil
	case slices.Contains(f.States.Failed, f.status):
		return true, &FailedError{Status: f.status}
	case changed && !slices.Contains(f.States.InProgress, f.status):
		tflog.Info(ctx, "Unknown status, which counts as in progress", map[string]any{"status": f.status})
	}
	return false, nil
}

// isFinal reports an error that a retry cannot fix.
func isFinal(err error) bool {
	switch transport.StatusOf(err) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired:
		return true
	}
	return false
}
