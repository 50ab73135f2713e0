package transport

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// limited is a service with a rate limit, which answers after a while.
type limited struct {
	limiter        *rate.Limiter
	total, refused atomic.Int64
}

func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(20 * time.Millisecond)
	w := httptest.NewRecorder()
	l.total.Add(1)
	if l.limiter.Allow() {
		clienttest.RespondJSON(w, http.StatusCreated, `{"id":"sa_1","name":"a"}`)
	} else {
		l.refused.Add(1)
		w.Header().Set("Retry-After", "1")
		clienttest.RespondJSON(w, http.StatusTooManyRequests, `{"detail":"slow down"}`)
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

func TestLimiter_manyWorkersKeepToTheServicesRate(t *testing.T) {
	t.Parallel()
	const workers, each = 10, 40
	create := Operation{Name: "createServiceAccount", Method: http.MethodPost, Route: "/api/v0/service-accounts"}
	for _, limit := range []float64{3, 5, 20} {
		t.Run(fmt.Sprint(limit, " per second"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := &limited{limiter: rate.NewLimiter(rate.Limit(limit), max(1, int(limit)))}
				c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: "k", MaxRetries: DefaultMaxRetries, Transport: service})
				check.Must(t, err)
				start := time.Now()
				var crowd sync.WaitGroup
				for worker := range workers {
					crowd.Go(func() {
						for i := range each {
							if err := c.CallIgnoringBody(t.Context(), Request{Op: create, Body: map[string]string{"name": fmt.Sprintf("a-%d-%d", worker, i)}}); err != nil {
								t.Errorf("account %d of worker %d: %v", i, worker, err)
							}
						}
					})
				}
				crowd.Wait()
				total, refused, elapsed := service.total.Load(), service.refused.Load(), time.Since(start)
				fastest := time.Duration(workers * each / limit * float64(time.Second))
				t.Logf("%d requests, %d refused, in %v of at least %v", total, refused, elapsed, fastest)
				if total-refused != workers*each || refused > workers*each/8 {
					t.Errorf("%d accounts made, %d answers of 429, want %d and at most %d", total-refused, refused, workers*each, workers*each/8)
				}
				if elapsed > fastest*2 {
					t.Errorf("it took %v, while the limit allows %v", elapsed, fastest)
				}
			})
		})
	}
}

// turns sends requests through a limiter, and records their outcome.
type turns struct {
	*limiter
	clk *clock.Fake
}

func newTurns(random, requestsPerSecond float64) *turns {
	clk := clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	fixed := func() float64 { return random }
	return &turns{newLimiter(clk, fixed, (&retryPolicy{random: fixed}).backoff, requestsPerSecond), clk}
}

func (l *turns) take(t *testing.T) *ticket {
	t.Helper()
	next := &ticket{}
	check.Must(t, l.wait(t.Context(), next))
	return next
}

func (l *turns) pause() time.Duration { return max(l.until.Sub(l.clk.Now()), 0) }

// A step is "+" for an accepted request, "-" for a refused one, "=" for one that was sent before the last refusal, or a wait.
func TestLimiter_rate(t *testing.T) {
	t.Parallel()
	const retryAfter = time.Second
	for _, tc := range []struct {
		steps string
		rate  float64
		pause time.Duration
	}{
		{"", math.Inf(1), 0},
		{"+ +", math.Inf(1), 0},
		{"+ + + -", quickRate, retryAfter},
		{"-", quickRate, retryAfter},
		{"- +", quickRate * 1.5, 0},
		{"- -", quickRate, retryAfter},              // Only the first of them slows down.
		{"- - - - - -", quickRate, 2 * time.Second}, // A quarter of the backoff.
		{"- + + + -", quickRate, retryAfter},        // Its rate was higher.
		{"- + + -", sharedRate, retryAfter},         // Others share the limit.
		{"- + + - +", sharedRate * 1.02, 0},
		{"- + + - + -", sharedRate * 1.02 / 2, retryAfter},
		{"- + + - + - + - -", slowestRate, retryAfter},
		{"- + + - - - - -", sharedRate, 4 * time.Second}, // The whole backoff.
		{"- + + - + + + + -", sharedRate * 1.02 * 1.02 * 1.02 * 1.02 / 2, retryAfter},
		{"- + + - 20s +", sharedRate * 1.5, 0}, // They are gone.
		{"- + + - 20s + + + -", sharedRate * 1.5 * 1.5 * 1.5 / 2, retryAfter},
		{"- + + + - +", quickRate * 1.25, 0},
		{"- + + + - + + + - +", quickRate / 2 * 1.25 * 1.25 * 1.25 * 1.125, 0},
		{"- =", quickRate, retryAfter},
		{"- =-", quickRate, retryAfter},
	} {
		l := newTurns(0, 0)
		before := l.take(t)
		for _, step := range strings.Fields(tc.steps) {
			switch step {
			case "+":
				l.accepted(l.take(t))
			case "-":
				_ = l.refused(t.Context(), l.take(t), retryAfter)
			case "=":
				l.accepted(before)
			case "=-":
				_ = l.refused(t.Context(), before, retryAfter/2)
			default:
				wait, err := time.ParseDuration(step)
				check.Must(t, err)
				l.clk.Advance(wait)
			}
		}
		if l.rate != tc.rate && math.Abs(l.rate-tc.rate) > 1e-9 || l.pause() != tc.pause {
			t.Errorf("%s: %v per second after %v, want %v after %v", tc.steps, l.rate, l.pause(), tc.rate, tc.pause)
		}
	}
}

func TestLimiter_aResponseRaisesTheRateOnce(t *testing.T) {
	t.Parallel()
	for name, final := range map[string]int{"success": 200, "error": 404} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n == 1 {
				clienttest.RespondJSON(w, 429, `{"detail":"slow down"}`)
				return
			}
			clienttest.RespondJSON(w, final, `{"detail":"x"}`)
		})
		if _, err := c.Exchange(t.Context(), aRead, OnlyJSON); StatusOf(err) != map[int]int{404: 404}[final] {
			t.Fatalf("%s: %v", name, err)
		}
		check.Is(t, name+": the rate", c.limiter.rate, quickRate*(1+quickRaise))
	}
}

// Processes that were refused together come back at different times.
func TestLimiter_isSpread(t *testing.T) {
	t.Parallel()
	for _, random := range []float64{0, 0.5, 1} {
		l := newTurns(random, 0)
		check.Must(t, l.refused(t.Context(), l.take(t), 10*time.Second))
		check.Is(t, fmt.Sprint("the pause with random ", random), l.pause(), 10*time.Second+time.Duration(2*random*float64(time.Second)/quickRate))
	}
}

func TestLimiter_configuredRateIsACeiling(t *testing.T) {
	t.Parallel()
	for _, ceiling := range []float64{0.1, 2} {
		l := newTurns(0, ceiling)
		start := l.clk.Now()
		for n := range 100 {
			if sent := l.take(t); n == 50 {
				check.Must(t, l.refused(t.Context(), sent, time.Second))
			} else {
				l.accepted(sent)
			}
		}
		if elapsed := l.clk.Now().Sub(start); l.rate != ceiling || elapsed < time.Duration(99/ceiling)*time.Second {
			t.Errorf("the rate is %v, 100 requests took %v", l.rate, elapsed)
		}
	}
}

// Time stands still in a synctest bubble, so the test is exact.
func TestLimiter_waitsToTheLastMoment(t *testing.T) {
	t.Parallel()
	const deadline = 10 * time.Second
	for name, tc := range map[string]struct {
		bounded bool
		// unserved is since when the service accepts nothing, and refused since when it refuses this call.
		unserved, refused, wait time.Duration
		ok                      bool
	}{
		"up to the deadline":                   {true, 0, 0, deadline, true},
		"beyond the deadline":                  {true, 0, 0, deadline + 1, false},
		"as long as nothing may be accepted":   {false, time.Minute, 0, patience - time.Minute, true},
		"longer than nothing may be accepted":  {false, time.Minute, 0, patience - time.Minute + 1, false},
		"as long as a call may be refused":     {false, 0, time.Minute, patience - time.Minute, true},
		"longer than a call may be refused":    {false, 0, time.Minute, patience - time.Minute + 1, false},
		"beyond it, whatever the deadline":     {true, patience - 5, 0, 6, false},
		"for a configured rate, without limit": {false, 0, 0, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.bounded {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, deadline)
					defer cancel()
				}
				l, call := newTurns(0, 0), &ticket{}
				if now := l.clk.Now(); tc.unserved > 0 {
					l.refusedInARow, l.since = 1, now.Add(-tc.unserved)
				} else if tc.refused > 0 {
					call.refusedAt = now.Add(-tc.refused)
				}
				err := l.mayWait(ctx, call, tc.wait)
				if (err == nil) != tc.ok || err != nil && !errors.Is(err, ErrHeldBack) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// A call that ended with a 429 long ago says nothing about how long the service has accepted nothing.
func TestLimiter_forgetsARefusalWithoutFurtherRequests(t *testing.T) {
	t.Parallel()
	l := newTurns(0, 0)
	check.Must(t, l.refused(t.Context(), l.take(t), time.Second))
	l.clk.Advance(patience + time.Second)
	first := l.take(t)
	l.take(t)
	check.Must(t, l.refused(t.Context(), first, time.Second))
}

func TestRefusals_areBounded(t *testing.T) {
	t.Parallel()
	serveRefusals := func(t *testing.T, retryAfter string) (*Conn, *clienttest.Recorder, *clock.Fake) {
		return serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Retry-After", retryAfter)
			clienttest.RespondJSON(w, 429, `{"detail":"slow down","status":429,"title":"x"}`)
		})
	}
	t.Run("without a deadline", func(t *testing.T) {
		t.Parallel()
		c, rec, clk := serveRefusals(t, "60")
		start := clk.Now()
		err := createSamples(t.Context(), c)
		if elapsed := clk.Now().Sub(start); StatusOf(err) != 429 || IsAmbiguous(err) || elapsed > patience || elapsed < patience-2*time.Minute {
			t.Errorf("got %v after %v and %d requests", err, elapsed, rec.Count(http.MethodPost))
		}
	})
	t.Run("without a deadline, for all requests together", func(t *testing.T) {
		t.Parallel()
		c, rec, clk := serveRefusals(t, "60")
		start := clk.Now()
		for range 10 {
			if err := createSamples(t.Context(), c); StatusOf(err) != 429 && !errors.Is(err, ErrHeldBack) {
				t.Errorf("got %v", err)
			}
		}
		if elapsed := clk.Now().Sub(start); elapsed > 5*time.Minute {
			t.Errorf("waited %v for %d requests", elapsed, rec.Count(http.MethodPost))
		}
	})
	t.Run("whatever the deadline", func(t *testing.T) {
		t.Parallel()
		c, rec, clk := serveRefusals(t, "1")
		start := clk.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := createSamples(ctx, c)
		if elapsed, sent := clk.Now().Sub(start), rec.Count(http.MethodPost); StatusOf(err) != 429 || elapsed > patience || elapsed < patience-time.Minute || sent > 60 {
			t.Errorf("got %v after %v and %d requests", err, elapsed, sent)
		}
	})
	t.Run("for one operation, although the service accepts others", func(t *testing.T) {
		t.Parallel()
		c, _, clk := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("Retry-After", "10")
			clienttest.RespondJSON(w, map[string]int{"POST": 429, "GET": 200}[r.Method], `{"id":"c1","name":"c1","providerType":"byom"}`)
		})
		start := clk.Now()
		c.retry.random = func() float64 { // Before each pause.
			c.limiter.refusedInARow = 0
			return 0
		}
		if err := createSamples(t.Context(), c); StatusOf(err) != 429 || clk.Now().Sub(start) > patience {
			t.Errorf("got %v after %v", err, clk.Now().Sub(start))
		}
	})
	for name, retryAfter := range map[string]string{"longer than is ever waited": "301", "beyond the caller's deadline": "120"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serveRefusals(t, retryAfter)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := createSamples(ctx, c)
			var api *APIError
			if !errors.As(err, &api) || api.Status != 429 || rec.Count(http.MethodPost) != 1 || len(clk.Sleeps()) > 0 {
				t.Errorf("got %v after %d requests and %v", err, rec.Count(http.MethodPost), clk.Sleeps())
			}
		})
	}
	for _, retryAfter := range []string{"301", "3600", "99999999999"} {
		t.Run("after a pause of "+retryAfter+" seconds, no other request is sent", func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serveRefusals(t, retryAfter)
			_ = createSamples(t.Context(), c)
			if err := createSamples(t.Context(), c); !errors.Is(err, ErrHeldBack) || rec.Count(http.MethodPost) != 1 || len(clk.Sleeps()) > 0 {
				t.Errorf("got %v after %d requests and %v", err, rec.Count(http.MethodPost), clk.Sleeps())
			}
		})
	}
	t.Run("shut by others beyond the caller's deadline", func(t *testing.T) {
		t.Parallel()
		c, rec, _ := serveRefusals(t, "120")
		check.Must(t, c.limiter.refused(t.Context(), &ticket{}, 2*time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := createSamples(ctx, c)
		var transport *TransportError
		if !errors.As(err, &transport) || !transport.Unsent || transport.Timeout != "timeouts" || IsAmbiguous(err) || rec.Count(http.MethodPost) != 0 || !strings.Contains(err.Error(), "rate limit") {
			t.Errorf("got %#v after %d requests", err, rec.Count(http.MethodPost))
		}
	})
}
