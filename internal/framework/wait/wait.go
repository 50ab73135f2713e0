// Package wait polls an object until it reaches a final state.
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

// pauses are the intervals between polls; the last one repeats. They start short to notice fast changes, and grow to limit
// requests.
var pauses = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second}

const (
	// refusalPatience is how long a wait goes on after an error that is probably final: a service may return a new object only after a delay.
	refusalPatience = 15 * time.Second
	// lastLookPatience limits the last poll, which starts at the deadline.
	lastLookPatience = 10 * time.Second
)

// errNoResponse is the error of a poll that was still running when the wait ended.
var errNoResponse = errors.New("the service did not respond")

// States groups the statuses of an object. A status in no group counts as in progress and is logged.
type States struct {
	Done, InProgress, Failed []string
}

// Object describes the object to wait for and how to read it.
type Object[T any] struct {
	// Start is the object at the start of the wait, such as the response to its create. It may be nil.
	Start *T
	// Next reads the object, after at most pause.
	Next func(ctx context.Context, pause time.Duration) (*T, error)
	// Status returns the object's status.
	Status func(*T) string
	States States
	// OnChange is called with Start and whenever the status changes. It may be nil.
	OnChange func(*T)
}

// FailedError means that the object reached a failed state.
type FailedError struct{ Status string }

func (e *FailedError) Error() string { return fmt.Sprintf("the status is %q", e.Status) }

// TimeoutError means that the timeout expired before a final state. The work continues at the service.
type TimeoutError struct {
	// Status is the last known status. It may be empty.
	Status string
	Waited time.Duration
	// Err is the error of the last poll. It may be nil.
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

// IsFailed reports whether an error of For means that the object reached a failed state.
func IsFailed(err error) bool {
	_, is := errors.AsType[*FailedError](err)
	return is
}

// IsTimeout reports whether an error of For means that the timeout expired.
func IsTimeout(err error) bool {
	_, is := errors.AsType[*TimeoutError](err)
	return is
}

// For polls until the object is done, failed, or gone, or the timeout expires, and then polls once more. It returns the
// object as last seen, even with an error, or nil if it was never seen. Errors are *FailedError, *TimeoutError, the
// context's error, or a service error that polling cannot fix.
func For[T any](ctx context.Context, clk clock.Clock, timeout time.Duration, object Object[T]) (*T, error) {
	started := clk.Now()
	deadline := started.Add(timeout)
	// The clock limits the wait. The context limits a poll that hangs.
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
			return f.last, &TimeoutError{Status: f.status, Waited: waited, Err: errNoResponse}
		case pause == left && waited >= timeout:
			return f.last, &TimeoutError{Status: f.status, Waited: waited, Err: f.lookErr}
		}
	}
}

// follower records what was seen of an object.
type follower[T any] struct {
	Object[T]
	clock  clock.Clock
	last   *T
	status string
	// lookErr is the error of the last poll. refusedSince is the time of the first one, since the object was last seen, that is probably final.
	lookErr      error
	refusedSince time.Time
}

// take records the result of a poll, and reports whether it ends the wait.
func (f *follower[T]) take(ctx context.Context, next *T, err error) (ended bool, _ error) {
	f.lookErr = err
	switch {
	case err == nil:
		f.refusedSince = time.Time{}
		return f.see(ctx, next)
	case isFinal(err):
		return true, err
	case mayPass(err):
		return false, err
	case f.refusedSince.IsZero():
		f.refusedSince = f.clock.Now()
	}
	return f.clock.Now().Sub(f.refusedSince) >= refusalPatience, err
}

// see records the object's status, and reports whether it is final.
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

// isFinal reports whether no later poll can succeed.
func isFinal(err error) bool {
	if _, isUnset := errors.AsType[*transport.UnconfiguredError](err); isUnset || errors.Is(err, transport.ErrTooLarge) {
		return true
	}
	switch transport.StatusOf(err) {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotImplemented:
		return true
	}
	return false
}

// mayPass reports whether an error says nothing about the object: there was no usable response, or it is temporary, or not the service's.
func mayPass(err error) bool {
	if _, isUnanswered := errors.AsType[*transport.TransportError](err); isUnanswered || transport.IsForeign(err) {
		return true
	}
	status := transport.StatusOf(err)
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusFailedDependency, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}
