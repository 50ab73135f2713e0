package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

const (
	minBackoff = 500 * time.Millisecond
	maxBackoff = 30 * time.Second
	// maxRetryAfter is the longest Retry-After that is respected. A longer one ends the call with the service's response.
	maxRetryAfter = 5 * time.Minute
	// maxErrorText is how much of a 429 response is read, in bytes.
	maxErrorText = 1 << 20
	// maxDiscarded is how much of a response without use is read, in bytes.
	maxDiscarded = 4 << 10
)

// attempts is the state of one call's attempts.
type attempts struct {
	request Request
	// caller is the context of the call. The context of a request may outlive it, so that no change is cut off halfway.
	caller     context.Context
	repeatable bool
	failed     int
	pause      time.Duration
	reason     string // Of the pause.
	ticket     ticket
	// connected says that the current attempt got a connection, so a request may have been sent.
	connected atomic.Bool
	// acted says that the service may have acted on an attempt.
	acted bool
	// actedBefore is acted before the current attempt.
	actedBefore bool
	// timedOut says that the last attempt reached its own timeout.
	timedOut bool
	// arrivedAt is when the header of the last response arrived. Its body may take long.
	arrivedAt time.Time
	// refusal is the last response if it was a 429, in case there is no further attempt.
	refusal *APIError

	// sent is the body of the request, and line what the report of the run says of all attempts.
	sent []byte
	line runreport.Line
	// body is that of the last response, unless it is to be repeated.
	body []byte
}

// newAttempts returns the state of a call, and the context of its requests.
func newAttempts(ctx context.Context, r Request, repeatable bool) (*attempts, context.Context) {
	state := &attempts{request: r, caller: ctx, repeatable: repeatable}
	// GotConn is called after the TLS handshake. If an attempt fails before that, nothing was sent.
	return state, httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { state.connected.Store(true) }})
}

// retryPolicy decides whether and when to retry a request. A request that is not repeatable is retried only if the service did
// not act: on 429, or without a connection.
type retryPolicy struct {
	clock      clock.Clock
	random     func() float64
	maxRetries int
	report     *report
}

// repeat makes attempts until one has a final result, and waits between them. If a wait ends early, its error is the result.
func (p *retryPolicy) repeat(state *attempts, attempt func() (resp *http.Response, again bool, err error)) (*http.Response, error) {
	for {
		resp, again, err := attempt()
		if !again {
			return resp, err
		}
		discard(resp)
		state.connected.Store(false)
		state.timedOut, state.actedBefore = false, state.acted
		if err := p.wait(state); err != nil {
			return nil, err
		}
	}
}

// discard closes a response. It reads the end of a short body, so that the connection can be used again.
func discard(resp *http.Response) {
	if resp == nil {
		return
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxDiscarded)
	_ = resp.Body.Close()
}

// again reports whether to repeat a request after an attempt with a response or an error, and determines the pause.
func (p *retryPolicy) again(state *attempts, resp *http.Response, err error) bool {
	if state.caller.Err() != nil || state.failed >= p.maxRetries || !state.mayRepeat(resp, err) {
		return false
	}
	pause := p.backoff(state.failed)
	state.reason = runreport.WaitRetry
	if resp != nil {
		if requested, ok := p.retryAfter(resp.Header); ok {
			if requested > maxRetryAfter {
				return false
			}
			pause, state.reason = requested, runreport.WaitAfter
		}
	}
	state.failed++
	state.pause = pause
	return true
}

// wait waits before the next attempt.
func (p *retryPolicy) wait(state *attempts) error {
	if state.pause <= 0 {
		return state.caller.Err()
	}
	defer p.report.waited(state.caller, runreport.Line{Wait: state.reason, Operation: state.request.Op.Name}, p.clock.Now())
	return p.clock.Sleep(state.caller, state.pause)
}

func (a *attempts) mayRepeat(resp *http.Response, err error) bool {
	if err != nil {
		if !a.connected.Load() {
			return !isFinalFault(err)
		}
		if errors.Is(err, ErrTooLarge) {
			return false
		}
		return a.repeatable && (!a.request.Op.Slow || !a.timedOut)
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return a.repeatable
	}
	return false
}

// CertificateRequired is what TLS, and the page of a usual gateway, say to a client without a certificate.
const CertificateRequired = "certificate required"

// isCertificateDemand reports whether the server wants a certificate of the client. TLS 1.3 says so only after the request was sent, which
// the server then drops.
func isCertificateDemand(err error) bool {
	return err != nil && strings.Contains(err.Error(), "tls: "+CertificateRequired)
}

// A proxy rejected a connection with 407 or 403.
var (
	ErrProxyLogin   = errors.New("the proxy requires authentication (407)")
	ErrProxyRefused = errors.New("the proxy refused the connection (403)")
)

func proxyRefusal(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusProxyAuthRequired:
		return ErrProxyLogin
	case http.StatusForbidden:
		return fmt.Errorf("%s: %w", proxy.Host, ErrProxyRefused)
	}
	return nil
}

// isFinalFault reports whether a proxy or a TLS handshake fails the same way every time.
func isFinalFault(err error) bool {
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	return errors.As(err, &verification) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) || errors.Is(err, ErrProxyLogin) || errors.Is(err, ErrProxyRefused) ||
		errors.As(err, &op) && op.Op == "remote error"
}

// isDialFault reports whether there was no connection. Dialers have their own timeouts.
func isDialFault(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// backoff doubles with every failure and adds jitter, so that clients that failed together do not retry together.
func (p *retryPolicy) backoff(failed int) time.Duration {
	d := min(maxBackoff, minBackoff<<min(failed, 6)) // A larger shift would overflow.
	return d/2 + time.Duration(p.random()*float64(d/2))
}

// retryAfter parses the header as seconds, which some servers give as fractions, or as an HTTP date, relative to the service's clock if the response has a date.
func (p *retryPolicy) retryAfter(h http.Header) (time.Duration, bool) {
	value := h.Get("Retry-After")
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(value, 64); (err == nil || errors.Is(err, strconv.ErrRange)) && !math.IsNaN(seconds) {
		return time.Duration(min(max(0, seconds), math.MaxInt32) * float64(time.Second)), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(cmp.Or(dateOf(h), p.clock.Now()))), true
}
