package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// seeded returns a source of jitter that is the same in each run.
func seeded(seed uint64) func() float64 {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // It is no secret.
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return source.Float64()
	}
}

// refusing is a service that refuses some requests, counted from 1.
type refusing struct {
	isRefused  func(n int) bool
	retryAfter string

	mu   sync.Mutex
	sent int
}

func (s *refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.sent++
	refused := s.isRefused(s.sent)
	s.mu.Unlock()
	time.Sleep(latency)
	if r.Method == http.MethodPost && !refused {
		time.Sleep(30 * time.Minute)
	}
	w := httptest.NewRecorder()
	if refused {
		w.Header().Set("Retry-After", s.retryAfter)
		clienttest.RespondJSON(w, http.StatusTooManyRequests, `{"detail":"slow down"}`)
	} else {
		clienttest.RespondJSON(w, http.StatusOK, `{"id":"c1","name":"c1","providerType":"byom"}`)
	}
	return w.Result(), nil
}

func (s *refusing) client(t *testing.T, seed uint64) *client.Client {
	t.Helper()
	c, err := client.New(transport.Config{
		BaseURL: "https://api.agentyard.example", APIKey: clienttest.Key, MaxRetries: transport.DefaultMaxRetries, RequestTimeout: time.Hour,
		Transport: s, Random: seeded(seed),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readThing(ctx context.Context, c *client.Client) error {
	return c.Conn.CallIgnoringBody(ctx, transport.Request{Op: transport.Operation{Name: "read", Method: http.MethodGet, Route: "/api/v0/things"}})
}

// One process recovers in seconds from refusals by a service that then accepts everything.
func TestRateLimit_recovers(t *testing.T) {
	first := func(refused int) func(int) bool { return func(n int) bool { return n <= refused } }
	for name, tc := range map[string]struct {
		reads      int
		isRefused  func(n int) bool
		retryAfter string
		most       time.Duration
	}{
		"25 reads, no refusal":                       {25, first(0), "1", time.Second},
		"25 reads, 1 refusal":                        {25, first(1), "1", 3 * time.Second},
		"25 reads, 6 refusals":                       {25, first(6), "1", 15 * time.Second},
		"25 reads, refusals 1 and 5":                 {25, func(n int) bool { return n == 1 || n == 5 }, "1", 6 * time.Second},
		"25 reads, refusals 5 and 12 and 20":         {25, func(n int) bool { return n == 5 || n == 12 || n == 20 }, "1", 30 * time.Second},
		"25 reads, each fifth refused":               {25, func(n int) bool { return n%5 == 1 && n < 30 }, "1", 35 * time.Second},
		"25 reads, 6 refusals without a time":        {25, first(6), "", 15 * time.Second},
		"1000 reads, 6 refusals":                     {1000, first(6), "1", 19 * time.Second},
		"1000 reads, 6 refusals among the first 30":  {1000, func(n int) bool { return n%5 == 1 && n < 30 }, "1", 60 * time.Second},
		"1000 reads, 1 refusal in the middle":        {1000, func(n int) bool { return n == 500 }, "1", 10 * time.Second},
		"1000 reads, the middle 10 refused together": {1000, func(n int) bool { return n >= 500 && n < 510 }, "1", 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var longest time.Duration
			for seed := range uint64(5) {
				synctest.Test(t, func(t *testing.T) {
					s := &refusing{isRefused: tc.isRefused, retryAfter: tc.retryAfter}
					c, began := s.client(t, seed), time.Now()
					each(t, tc.reads, func(ctx context.Context, _ int) error { return readThing(ctx, c) })
					longest = max(longest, time.Since(began))
				})
			}
			t.Logf("%s: %v", name, longest)
			if longest > tc.most {
				t.Errorf("want %v", tc.most)
			}
		})
	}
}

// If the service refuses everything, reads fail after five minutes, whatever else waits, and so do the others.
func TestRateLimit_endless(t *testing.T) {
	for _, polls := range []int{0, 1, 3, 10} {
		for _, creates := range []int{0, 1, 10} {
			t.Run(fmt.Sprintf("%d polls, %d creates", polls, creates), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &refusing{isRefused: func(n int) bool { return n > creates }, retryAfter: "1"}
					c := s.client(t, 1)
					var all sync.WaitGroup
					ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
					defer cancel()
					for range creates {
						all.Go(func() {
							_ = c.Conn.CallIgnoringBody(ctx, transport.Request{Op: transport.Operation{Name: "create", Method: http.MethodPost, Route: "/api/v0/things", Slow: true}})
						})
					}
					time.Sleep(time.Minute)
					began := time.Now()
					for i := range polls {
						all.Go(func() {
							watch := c.Computers.Watch(fmt.Sprint(i), fmt.Sprint("account ", i))
							defer watch.Close()
							_, _ = wait.For(t.Context(), c.Conn.Clock, 30*time.Minute, wait.Object[computers.Computer]{
								Next: watch.Next, Status: func(c *computers.Computer) string { return c.Status }, States: wait.States{Done: []string{computers.StatusActive}},
							})
						})
					}
					time.Sleep(10 * time.Second)
					var reads sync.WaitGroup
					for range 10 {
						reads.Go(func() {
							if err := readThing(t.Context(), c); err == nil {
								t.Error("it was accepted")
							}
						})
					}
					reads.Wait()
					failed, sent := time.Since(began), s.sent
					all.Wait()
					t.Logf("reads fail after %v and %d requests; everything after %v and %d requests", failed, sent, time.Since(began), s.sent)
					if failed > 5*time.Minute+10*time.Second {
						t.Error("that is too late")
					}
				})
			})
		}
	}
}
