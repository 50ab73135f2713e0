package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	MinBackoff = 500 * time.Millisecond
	maxBackoff = 30 * time.Second
	// maxRetryAfter is the longest pause that is taken over from the service; a longer one ends the call with the service's response.
	maxRetryAfter = 5 * time.Minute
	// maxErrorText bounds what is read of a response 429, in bytes.
	maxErrorText = 1 << 20
)

// attempts is the state of one call's repetitions. It travels in the request's context, because the library calls
// the policy without a response when the connection broke.
type attempts struct {
	op Operation
	// caller is the context of the call. That of its requests may outlive it, so that no change is cut off half-way.
	caller     context.Context
	repeatable bool
	failed     int
	pause      time.Duration
	passage    Passage
	// connected says that the present attempt got a connection, so that something may have been sent.
	connected atomic.Bool
	// status is that of the last attempt's answer if the service failed, else 0.
	status int
	// acted says that the service may have acted on an attempt.
	acted bool
	// actedBefore is the same of the attempts before the present one.
	actedBefore bool
	// timedOut says that the last attempt was ended by its own timeout.
	timedOut bool
	// atLeast is the time of an attempt where the operation has more than request_timeout, else 0.
	atLeast time.Duration
	// refusal is the response to the last attempt if that was 429, kept in case that nothing follows.
	refusal *APIError
	// sending is called before each attempt; it may be nil.
	sending func()
}

type (
	attemptsKey struct{}
	sendingKey  struct{}
)

// BeforeSending returns a context whose request calls a function right before it is sent, also before it is repeated: its
// turn may come long after it was made.
func BeforeSending(ctx context.Context, sending func()) context.Context {
	return context.WithValue(ctx, sendingKey{}, sending)
}

// withAttempts returns the context of a call's requests.
func withAttempts(ctx context.Context, repeatable bool) context.Context {
	state := &attempts{caller: ctx, repeatable: repeatable, passage: newPassage(ctx)}
	state.sending, _ = ctx.Value(sendingKey{}).(func())
	// A connection is handed over when its TLS handshake is done. Whatever fails before was surely not sent.
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { state.connected.Store(true) }}
	return context.WithValue(httptrace.WithClientTrace(ctx, trace), attemptsKey{}, state)
}

func attemptsIn(ctx context.Context) *attempts {
	state, _ := ctx.Value(attemptsKey{}).(*attempts)
	return state
}

// retryPolicy decides whether a request is sent again, and after how long. A request that is not repeatable
// is sent again only where the service surely did not act: on 429, or when no connection was made.
type retryPolicy struct {
	clock  clock.Clock
	Random func() float64
	// maxRetries bounds the repetitions of one call.
	maxRetries int
}

// check is called after every attempt, with the response or with the error that came in its place.
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

// enter waits at the gate for the turn of the first attempt or of another one.
func (a *attempts) enter(g *gate) error {
	if err := g.Enter(a.caller, &a.passage); err != nil {
		return err
	}
	if a.sending != nil {
		a.sending()
	}
	return nil
}

func (a *attempts) mayRepeat(resp *http.Response, err error) bool {
	if err != nil {
		if !a.connected.Load() {
			return !isTLSFault(err)
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

// isTLSFault reports a handshake that fails the same way every time.
func isTLSFault(err error) bool {
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	return errors.As(err, &verification) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) ||
		errors.As(err, &op) && op.Op == "remote error"
}

// isDialFault reports that no connection was made; a dialer has timeouts of its own.
func isDialFault(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// afterAttempt is called after every attempt at the API, and once more after a response that is final was read.
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
		c.Service.note(resp.Header, c.Clock.Now())
	}
	if refused {
		return c.afterRefusal(state, resp), err
	}
	if resp != nil {
		c.Gate.accepted(&state.passage)
	}
	return c.Retry.check(ctx, resp, err)
}

// afterRefusal shuts the gate and reports whether the request waits there for another attempt, however many there were:
// the service did not act. It ends with the response where the wait is too long.
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

// beforeRepetition waits for the time of the next attempt.
func (c *Conn) beforeRepetition(req *http.Request) error {
	state := attemptsIn(req.Context())
	state.timedOut, state.actedBefore = false, state.acted
	if err := c.Retry.pause(req); err != nil {
		return err
	}
	return state.enter(c.Gate)
}

// Backoff doubles with every failure and is spread over its upper half, so that clients which failed together do not return together.
func (p *retryPolicy) Backoff(failed int) time.Duration {
	d := min(maxBackoff, MinBackoff<<min(failed, 6)) // Without a bound the shift overflows.
	return d/2 + time.Duration(p.Random()*float64(d/2))
}

// retryAfter reads the header in both of its forms: seconds, and an HTTP date, which is compared to the service's own clock where it tells it.
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

// BackOff waits before a caller's own repetition after so many failed attempts. It returns false if no attempt is left.
func (c *Conn) BackOff(ctx context.Context, failed int) (again bool, err error) {
	if failed >= c.Retry.maxRetries {
		return false, nil
	}
	return true, c.Clock.Sleep(ctx, c.Retry.Backoff(failed))
}
