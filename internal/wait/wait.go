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

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// notFoundPatience is how many polls in a row may answer 404 before the object counts as gone: a service may show a new object late.
const notFoundPatience = 3

// States groups the statuses of an object. One that is in no group counts as in progress and is logged.
type States struct {
	Done, InProgress, Failed []string
}

// Object says what is waited for and how it is read.
type Object[T any] struct {
	// Next returns the object as the next poll finds it.
	Next func(context.Context) (*T, error)
	// Status returns the object's status.
	Status func(*T) string
	States States
	// OnChange is called when the status has changed; it may be nil.
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
	// Err is why the last poll failed, if it did.
	Err error
}

func (e *TimeoutError) Error() string {
	text := fmt.Sprintf("the status is still %q after %s", e.Status, e.Waited.Round(time.Second))
	if e.Err != nil {
		text += fmt.Sprintf(" (the last poll failed: %v)", e.Err)
	}
	return text
}

func (e *TimeoutError) Unwrap() error { return e.Err }

// For polls until the object is done, has failed, is gone, or timeout is over. It returns the object as last seen, also
// beside an error; nil if no poll succeeded. Errors are *FailedError, *TimeoutError, the context's, or the service's where polling on is useless.
func For[T any](ctx context.Context, clk clock.Clock, timeout time.Duration, object Object[T]) (*T, error) {
	started := clk.Now()
	// The clock bounds the wait; the context bounds a request that hangs.
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	var last *T
	var status string
	var pollErr error
	notFound := 0
	for {
		if waited := clk.Now().Sub(started); waited >= timeout {
			return last, &TimeoutError{Status: status, Waited: waited, Err: pollErr}
		}
		next, err := object.Next(ctx)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return last, &TimeoutError{Status: status, Waited: clk.Now().Sub(started), Err: pollErr}
		}
		if ctx.Err() != nil {
			return last, ctx.Err()
		}
		if err != nil {
			if client.IsNotFound(err) {
				notFound++
			}
			if notFound >= notFoundPatience || isFinal(err) {
				return last, err
			}
			pollErr = err
			continue
		}
		pollErr, notFound = nil, 0
		changed := last == nil || object.Status(next) != status
		last, status = next, object.Status(next)
		if changed && object.OnChange != nil {
			object.OnChange(next)
		}
		switch {
		case slices.Contains(object.States.Done, status):
			return last, nil
		case slices.Contains(object.States.Failed, status):
			return last, &FailedError{Status: status}
		case changed && !slices.Contains(object.States.InProgress, status):
			tflog.Info(ctx, "Unknown status, which counts as in progress", map[string]any{"status": status})
		}
	}
}

// isFinal reports an error that no further poll will mend.
func isFinal(err error) bool {
	switch client.StatusOf(err) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired:
		return true
	}
	return false
}
