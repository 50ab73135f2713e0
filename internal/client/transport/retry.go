package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	MinBackoff = 500 * time.Millisecond
	maxBackoff = 30 * time.Second
	// maxRetryAfter is the longest Retry-After that is respected. A longer one ends the call with the service's response.
	maxRetryAfter = 5 * time.Minute
	// maxErrorText is how much of a 429 response is read, in bytes.
	maxErrorText = 1 << 20
)

// attempts is the state of one call's attempts. It is in the request's context, because the retry library calls the policy
// without a response if the connection failed.
type attempts struct {
	op Operation
	// caller is the context of the call. The context of a request may outlive it, so that no change is cut off halfway.
	caller     context.Context
	repeatable bool
	failed     int
	pause      time.Duration
	passage    Passage
	// connected says that the current attempt got a connection, so a request may have been sent.
	connected atomic.Bool
	// status is the status of the last response if it was 500 or higher, else 0.
	status int
	// acted says that the service may have acted on an attempt.
	acted bool
	// actedBefore is acted before the current attempt.
	actedBefore bool
	// timedOut says that the last attempt reached its own timeout.
	timedOut bool
	// atLeast is the timeout of a slow operation if it is longer than request_timeout, else 0.
	atLeast time.Duration
	// refusal is the last response if it was a 429, in case there is no further attempt.
	refusal *APIError
	// turn is what the first attempt passes the gate with; it may be nil.
	turn *Turn
}

type (
	attemptsKey struct{}
	turnKey     struct{}
)

// WithTurn returns a context whose first request does not wait for the rate limit.
func WithTurn(ctx context.Context, turn *Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, turn)
}

func withAttempts(ctx context.Context, repeatable bool) context.Context {
	state := &attempts{caller: ctx, repeatable: repeatable, passage: newPassage(ctx)}
	state.turn, _ = ctx.Value(turnKey{}).(*Turn)
	// GotConn is called after the TLS handshake. If an attempt fails before that, nothing was sent.
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { state.connected.Store(true) }}
	return context.WithValue(httptrace.WithClientTrace(ctx, trace), attemptsKey{}, state)
}

func attemptsIn(ctx context.Context) *attempts {
	state, _ := ctx.Value(attemptsKey{}).(*attempts)
	return state
}

// retryPolicy decides whether and when to retry a request. A request that is not repeatable is retried only if the service did
// not act: on 429, or without a connection.
type retryPolicy struct {
	clock      clock.Clock
	Random     func() float64
	maxRetries int
}

// check is called after every attempt, with its response or its error.
func (p *retryPolicy) check(ctx context.Context, resp *http.Response, err error) (bool, error) {
	state := attemptsIn(ctx)
	if state.caller.Err() != nil || state.failed >= p.maxRetries || !state.mayRepeat(resp, err) {
		return false, err
	}
	pause := p.Backoff(state.failed)
	if resp != nil {
		if requested, ok := p.retryAfter(resp.Header); ok {
			if requested > maxRetryAfter {
				return false, err
			}
			pause = requested
		}
	}
	state.failed++
	state.pause = pause
	return true, err
}

// pause waits before the next attempt.
func (p *retryPolicy) pause(req *http.Request) error {
	state := attemptsIn(req.Context())
	state.connected.Store(false)
	if state.pause <= 0 {
		return state.caller.Err()
	}
	return p.clock.Sleep(state.caller, state.pause) //nolint:contextcheck // The context of the attempt ends with it.
}

// enter waits until the gate lets the next attempt pass.
func (a *attempts) enter(g *Gate) error {
	if a.turn != nil && a.turn.used.CompareAndSwap(false, true) {
		a.passage = a.turn.passage
		return nil
	}
	return g.Enter(a.caller, &a.passage)
}

func (a *attempts) mayRepeat(resp *http.Response, err error) bool {
	if err != nil {
		if !a.connected.Load() {
			return !isFinalFault(err)
		}
		if IsTooLarge(err) {
			return false
		}
		return a.repeatable && (!a.op.Slow || !a.timedOut)
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusGatewayTimeout:
		return a.repeatable && (!a.op.Slow || a.op.WarmsUp)
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable:
		return a.repeatable
	}
	return false
}

// ErrProxyLogin says that a proxy rejected a connection with 407.
var ErrProxyLogin = errors.New("the proxy requires authentication (407)")

func refuseProxyLogin(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusProxyAuthRequired {
		return ErrProxyLogin
	}
	return nil
}

// isFinalFault reports whether a proxy or a TLS handshake fails the same way every time.
func isFinalFault(err error) bool {
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	return errors.As(err, &verification) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) || errors.Is(err, ErrProxyLogin) ||
		errors.As(err, &op) && op.Op == "remote error"
}

// isDialFault reports whether there was no connection. Dialers have their own timeouts.
func isDialFault(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// afterAttempt is called after every attempt at the API, and again after the final response was read.
func (c *Conn) afterAttempt(ctx context.Context, resp *http.Response, err error) (bool, error) {
	state := attemptsIn(ctx)
	refused := resp != nil && resp.StatusCode == http.StatusTooManyRequests
	state.timedOut = ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && !isDialFault(err)
	state.acted = state.acted || state.connected.Load() && !refused
	state.refusal, state.status = nil, 0
	if resp != nil && resp.StatusCode >= http.StatusInternalServerError {
		state.status = resp.StatusCode
	}
	if resp != nil {
		c.Service.note(time.Time{}, c.Clock.Now())
	}
	if refused {
		return c.afterRefusal(state, resp), err
	}
	if resp != nil {
		c.Gate.accepted(&state.passage)
	}
	return c.Retry.check(ctx, resp, err)
}

// afterRefusal closes the gate and reports whether to retry after a 429. The number of such retries is not limited, because
// the service did not act, but the wait is.
func (c *Conn) afterRefusal(state *attempts, resp *http.Response) bool {
	requested, _ := c.Retry.retryAfter(resp.Header)
	if requested > maxRetryAfter {
		return false
	}
	held := c.Gate.refused(&state.passage, requested)
	if state.caller.Err() != nil || state.passage.mayWait(state.caller, held) != nil {
		return false
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorText))
	state.refusal, state.pause = newAPIError(state.op, resp, body), 0
	return true
}

// beforeRepetition waits for the next attempt.
func (c *Conn) beforeRepetition(req *http.Request) error {
	state := attemptsIn(req.Context())
	state.timedOut, state.actedBefore = false, state.acted
	if err := c.Retry.pause(req); err != nil {
		return err
	}
	return state.enter(c.Gate)
}

// Backoff doubles with every failure and adds jitter, so that clients that failed together do not retry together.
func (p *retryPolicy) Backoff(failed int) time.Duration {
	d := min(maxBackoff, MinBackoff<<min(failed, 6)) // A larger shift would overflow.
	return d/2 + time.Duration(p.Random()*float64(d/2))
}

// retryAfter parses the header as seconds or as an HTTP date, relative to the service's clock if the response has a date.
func (p *retryPolicy) retryAfter(h http.Header) (time.Duration, bool) {
	value := h.Get("Retry-After")
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	now := p.clock.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now)), true
}

// BackOff waits before a caller's own retry. It returns false if there are no retries left.
func (c *Conn) BackOff(ctx context.Context, failed int) (again bool, err error) {
	if failed >= c.Retry.maxRetries {
		return false, nil
	}
	return true, c.Clock.Sleep(ctx, c.Retry.Backoff(failed))
}
