package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
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

func TestGate_manyWorkersKeepToTheServicesRate(t *testing.T) {
	t.Parallel()
	const workers, each = 10, 40
	create := Operation{Name: "createServiceAccount", Method: http.MethodPost, Route: "/api/v0/service-accounts"}
	for _, limit := range []float64{3, 5, 20} {
		t.Run(fmt.Sprint(limit, " per second"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := &limited{limiter: rate.NewLimiter(rate.Limit(limit), max(1, int(limit)))}
				c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: "k", MaxRetries: DefaultMaxRetries, Transport: service})
				clienttest.Must(t, err)
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
				if elapsed > fastest*7/4 {
					t.Errorf("it took %v, while the limit allows %v", elapsed, fastest)
				}
			})
		})
	}
}

func TestGate_refusalsHoldEverybodyBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		retryAfter string
		least      time.Duration
	}{
		"seconds":        {"7", 7 * time.Second},
		"date":           {"Sun, 01 Mar 2026 00:00:09 GMT", 9 * time.Second},
		"without a time": {"", 250 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clk *clock.Fake
			var at []time.Time
			c, _, fake := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				at = append(at, clk.Now())
				w.Header().Set("Date", "Sun, 01 Mar 2026 00:00:00 GMT")
				if n == 1 {
					if tc.retryAfter != "" {
						w.Header().Set("Retry-After", tc.retryAfter)
					}
					clienttest.RespondJSON(w, 429, `{"detail":"slow down","status":429,"title":"x"}`)
					return
				}
				clienttest.RespondJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
			})
			clk = fake
			refused := newPassage(t.Context())
			clienttest.Must(t, c.Gate.Enter(t.Context(), &refused))
			for range 2 {
				if _, err := getSample(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			// The second request is a different one, and must also keep its distance from the first.
			if first, second := at[1].Sub(at[0]), at[2].Sub(at[1]); first < tc.least || first > max(2*time.Second, tc.least+time.Second) || second < 190*time.Millisecond {
				t.Errorf("the repetition came after %v, the next request after %v", first, second)
			}
		})
	}
}

// A 429 halves the rate, and each accepted request raises it a little.
func TestGate_halvesAndRaises(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	g := NewGate(clk, func() float64 { return 0 }, (&retryPolicy{Random: func() float64 { return 0 }}).Backoff, 0)
	enter := func() *Passage {
		t.Helper()
		p := newPassage(t.Context())
		clienttest.Must(t, g.Enter(t.Context(), &p))
		return &p
	}
	check := func(what string, limit rate.Limit, held time.Duration) {
		t.Helper()
		if got := g.limiter.Limit(); got != limit || g.until.Sub(clk.Now()) != held {
			t.Errorf("%s: the rate is %v, the gate is shut for %v, want %v and %v", what, got, g.until.Sub(clk.Now()), limit, held)
		}
	}
	together := []*Passage{enter(), enter(), enter()}
	g.accepted(together[0])
	g.refused(together[1], 3*time.Second)
	check("the first refusal", firstRate, 3*time.Second)
	g.refused(together[2], 2*time.Second)
	check("one that was under way with it", firstRate, 3*time.Second)
	g.refused(together[2], 4*time.Second)
	check("one with a longer pause", firstRate, 4*time.Second)
	g.accepted(together[0])
	check("an acceptance from before", firstRate, 4*time.Second)

	start := clk.Now()
	first, second := enter(), enter()
	if elapsed := clk.Now().Sub(start); elapsed != 4*time.Second+time.Duration(float64(time.Second)/float64(firstRate)) {
		t.Errorf("two requests took %v", elapsed)
	}
	g.accepted(first)
	check("an acceptance", firstRate*earlyRaise, g.until.Sub(clk.Now()))
	g.refused(second, time.Second)
	check("the second refusal", firstRate*earlyRaise/2, time.Second)
	for n := range 10 {
		held := g.refused(enter(), 0)
		if n < 5 && held != MinBackoff<<(n+1)/2 {
			t.Errorf("refusal %d in a row without a time shuts the gate for %v", n+1, held)
		}
	}
	if got := g.limiter.Limit(); got != slowestRate {
		t.Errorf("the rate sank to %v, want %v", got, slowestRate)
	}
	g.accepted(enter())
	check("an acceptance after more than one refusal", slowestRate*rateRaise, g.until.Sub(clk.Now()))
}

func TestGate_aResponseRaisesTheRateOnce(t *testing.T) {
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
		if got := c.Gate.limiter.Limit(); got != firstRate*earlyRaise {
			t.Errorf("%s: the rate is %v, want %v", name, got, firstRate*earlyRaise)
		}
	}
}

func noBackoff(int) time.Duration { return 0 }

func TestGate_isSpread(t *testing.T) {
	t.Parallel()
	for _, random := range []float64{0, 0.5, 1} {
		clk := clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
		g := NewGate(clk, func() float64 { return random }, noBackoff, 0)
		if held, want := g.refused(&Passage{}, 10*time.Second), 10*time.Second+time.Duration(random*float64(time.Second)/float64(firstRate)); held != want {
			t.Errorf("random %v: the gate is shut for %v, want %v", random, held, want)
		}
	}
}

func TestGate_configuredRateIsACeiling(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	g := NewGate(clk, func() float64 { return 0 }, noBackoff, 2)
	start := clk.Now()
	for n := range 400 {
		p := newPassage(t.Context())
		clienttest.Must(t, g.Enter(t.Context(), &p))
		if n == 0 {
			g.refused(&p, time.Second)
			continue
		}
		g.accepted(&p)
	}
	if elapsed := clk.Now().Sub(start); g.limiter.Limit() != 2 || elapsed < 199*time.Second {
		t.Errorf("the rate is %v, 400 requests took %v", g.limiter.Limit(), elapsed)
	}
}

// A request that waited for the configured rate also waits for the service's rate limit.
func TestGate_refusalsHoldBeneathTheCeiling(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	g := NewGate(clk, func() float64 { return 0 }, noBackoff, 1)
	first, second := newPassage(t.Context()), newPassage(t.Context())
	clienttest.Must(t, g.Enter(t.Context(), &first))
	refusedAt := clk.Now()
	g.refused(&first, 10*time.Second)
	if err := g.Enter(t.Context(), &second); err != nil || clk.Now().Sub(refusedAt) != 10*time.Second {
		t.Errorf("it passed %v after the refused one, %v", clk.Now().Sub(refusedAt), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := g.Enter(ended, &second); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

// Nothing waits without a configured rate and before the first 429.
func TestGate_isOpenAtFirst(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	g := NewGate(clk, func() float64 { return 0 }, noBackoff, 0)
	for range 1000 {
		if wait := g.reserve(&Passage{}); wait != 0 {
			t.Errorf("it waits %v", wait)
		}
	}
}

// Time stands still in a synctest bubble, so the test is exact.
func TestPassage_mayWaitToTheLastMoment(t *testing.T) {
	t.Parallel()
	const deadline = 10 * time.Second
	for name, tc := range map[string]struct {
		bounded        bool
		heldBack, wait time.Duration
		ok             bool
	}{
		"up to the deadline":                {true, 0, deadline, true},
		"beyond the deadline":               {true, 0, deadline + 1, false},
		"with what was waited, up to it":    {true, 4 * time.Second, 6 * time.Second, true},
		"with what was waited, beyond it":   {true, 4 * time.Second, 6*time.Second + 1, false},
		"as long as is ever waited":         {false, 0, maxHeldBack, true},
		"longer than is ever waited":        {false, 0, maxHeldBack + 1, false},
		"as long in all as is ever waited":  {false, maxHeldBack - 5, 5, true},
		"longer in all than is ever waited": {false, maxHeldBack - 5, 6, false},
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
				p := newPassage(ctx)
				p.heldBack = tc.heldBack
				err := p.mayWait(ctx, tc.wait)
				if (err == nil) != tc.ok || err != nil && (!errors.Is(err, ErrHeldBack) || errors.Is(err, context.DeadlineExceeded) != tc.bounded) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestRefusals_doNotUseUpRetries(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer   func(n int) int
		requests int
		status   int // The status of the error; 0 for success.
	}{
		"12 refusals":             {func(n int) int { return map[bool]int{true: 429, false: 201}[n <= 12] }, 13, 0},
		"refusals, then an error": {func(n int) int { return map[bool]int{true: 429, false: 400}[n <= 5] }, 6, 400},
		"refusals, then a fault":  {func(n int) int { return map[bool]int{true: 429, false: 500}[n <= 5] }, 6, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				w.Header().Set("Retry-After", "1")
				clienttest.RespondJSON(w, tc.answer(n), `{"id":"c1","detail":"d"}`)
			})
			err := createSamples(t.Context(), c)
			if StatusOf(err) != tc.status || (err == nil) != (tc.status == 0) || rec.Count(http.MethodPost) != tc.requests {
				t.Errorf("got %v after %d requests, want %d after %d", err, rec.Count(http.MethodPost), tc.status, tc.requests)
			}
		})
	}
	t.Run("between faults of a read", func(t *testing.T) {
		t.Parallel()
		c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			clienttest.RespondJSON(w, []int{503, 429}[n%2], `{"detail":"d"}`)
		})
		_, err := getSample(t.Context(), c)
		if StatusOf(err) != 503 || rec.Count(http.MethodGet) != 8 {
			t.Errorf("got %v after %d requests, want a 503 after 4 faults and as many refusals", err, rec.Count(http.MethodGet))
		}
	})
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
		if elapsed := clk.Now().Sub(start); StatusOf(err) != 429 || IsAmbiguous(err) || elapsed > maxHeldBack || elapsed < maxHeldBack-2*time.Minute {
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
	t.Run("by the deadline, whatever clock the waits pass on", func(t *testing.T) {
		t.Parallel()
		c, rec, clk := serveRefusals(t, "1")
		start := clk.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := createSamples(ctx, c)
		if elapsed, sent := clk.Now().Sub(start), rec.Count(http.MethodPost); StatusOf(err) != 429 || elapsed > time.Hour || elapsed < 59*time.Minute || sent > 300 {
			t.Errorf("got %v after %v and %d requests", err, elapsed, sent)
		}
	})
	t.Run("as long as is ever waited at once", func(t *testing.T) {
		t.Parallel()
		c, rec, clk := serveRefusals(t, "300")
		start := clk.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := createSamples(ctx, c)
		if elapsed := clk.Now().Sub(start); StatusOf(err) != 429 || rec.Count(http.MethodPost) < 2 || elapsed < maxRetryAfter {
			t.Errorf("got %v after %v and %d requests", err, elapsed, rec.Count(http.MethodPost))
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
			if !errors.As(err, &api) || api.Status != 429 || api.RetryAfter != retryAfter || api.TooLong != (retryAfter == "301") || rec.Count(http.MethodPost) != 1 || len(clk.Sleeps()) > 0 {
				t.Errorf("got %v after %d requests and %v", err, rec.Count(http.MethodPost), clk.Sleeps())
			}
		})
	}
	t.Run("shut by others beyond the caller's deadline", func(t *testing.T) {
		t.Parallel()
		c, rec, _ := serveRefusals(t, "120")
		c.Gate.refused(&Passage{}, 2*time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := createSamples(ctx, c)
		var transport *TransportError
		if !errors.As(err, &transport) || !transport.Unsent || transport.Timeout != "timeouts" || IsAmbiguous(err) || rec.Count(http.MethodPost) != 0 || !strings.Contains(err.Error(), "rate limit") {
			t.Errorf("got %#v after %d requests", err, rec.Count(http.MethodPost))
		}
	})
	t.Run("shut for all requests, but not for those who share a turn", func(t *testing.T) {
		t.Parallel()
		c, _, clk := serveRefusals(t, "240")
		c.Gate.refused(&Passage{}, 4*time.Minute)
		clk.Advance(4 * time.Minute)
		c.Gate.refused(&Passage{shut: 1}, 4*time.Minute)
		p := newPassage(t.Context())
		if err := c.Gate.Enter(t.Context(), &p); !errors.Is(err, ErrHeldBack) {
			t.Errorf("got %v", err)
		}
		if _, err := c.AwaitTurn(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("shut by others for longer than is ever waited", func(t *testing.T) {
		t.Parallel()
		c, _, clk := serveRefusals(t, "240")
		p := newPassage(t.Context())
		p.heldBack = maxHeldBack - 2*time.Minute
		clienttest.Must(t, c.Gate.Enter(t.Context(), &p))
		c.Gate.refused(&Passage{}, 4*time.Minute)
		if err := c.Gate.Enter(t.Context(), &p); !errors.Is(err, ErrHeldBack) || len(clk.Sleeps()) > 0 {
			t.Errorf("got %v", err)
		}
	})
}
