package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	minBackoff = 500 * time.Millisecond
	maxBackoff = 30 * time.Second
	// maxRetryAfter is the longest pause that is taken over from the service; a longer one ends the call with the service's answer.
	maxRetryAfter = 5 * time.Minute
)

// attempts is the state of one call's repetitions. It travels in the request's context, because the library calls
// the policy without a response when the connection broke.
type attempts struct {
	repeatable bool
	failed     int
	pause      time.Duration
}

type attemptsKey struct{}

func withAttempts(ctx context.Context, repeatable bool) context.Context {
	return context.WithValue(ctx, attemptsKey{}, &attempts{repeatable: repeatable})
}

// retryPolicy decides whether a request is sent again, and after how long. A request that is not repeatable
// is sent again only where the service surely did not act: on 429, or when no connection was made.
type retryPolicy struct {
	clock  clock.Clock
	random func() float64
}

// check is called after every attempt, with the answer or with the error that came in its place.
func (p *retryPolicy) check(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	state, _ := ctx.Value(attemptsKey{}).(*attempts)
	if state == nil {
		state = &attempts{}
	}
	if !mayRepeat(state.repeatable, resp, err) {
		return false, err
	}
	pause := p.backoff(state.failed)
	if resp != nil {
		if asked, ok := p.retryAfter(resp.Header); ok {
			if asked > maxRetryAfter {
				return false, err
			}
			pause = asked
		}
	}
	state.failed++
	state.pause = pause
	return true, err
}

// pause waits before the next attempt.
func (p *retryPolicy) pause(req *http.Request) error {
	state, _ := req.Context().Value(attemptsKey{}).(*attempts)
	if state == nil {
		return nil
	}
	return p.clock.Sleep(req.Context(), state.pause)
}

func mayRepeat(repeatable bool, resp *http.Response, err error) bool {
	if err != nil {
		if neverConnected(err) {
			return !isCertificateFault(err)
		}
		return repeatable
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return repeatable
	}
	return false
}

// neverConnected reports that the request did not reach anybody.
func neverConnected(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" || isCertificateFault(err)
}

func isCertificateFault(err error) bool {
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &verification) || errors.As(err, &record)
}

// backoff doubles with every failure and is spread over its upper half, so that clients which failed together do not return together.
func (p *retryPolicy) backoff(failed int) time.Duration {
	d := maxBackoff
	if failed < 6 {
		d = min(maxBackoff, minBackoff<<failed)
	}
	return d/2 + time.Duration(p.random()*float64(d/2))
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
