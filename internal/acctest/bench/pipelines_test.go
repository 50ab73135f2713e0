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

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// latency is how long each request takes.
const latency = 20 * time.Millisecond

// direct sends requests to a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(latency)
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := recorder{httptest.NewRecorder()}
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// recorder accepts an empty body with any status, as a server's writer does.
type recorder struct{ *httptest.ResponseRecorder }

func (r recorder) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return r.ResponseRecorder.Write(p)
}

// pipeline is what a run of Terraform with an account and its computers does, with the client as a process has it.
type pipeline struct {
	t         *testing.T
	e         *emulator.Emulator
	name      string
	account   string
	computers []string
}

const (
	pipelines   = 8
	perPipeline = 16
	parallelism = 10
)

// process returns the client of a new process.
func process(t *testing.T, e *emulator.Emulator) *client.Client {
	t.Helper()
	c, err := client.New(transport.Config{BaseURL: e.URL(), APIKey: e.BootstrapKey(), MaxRetries: 8, Transport: direct{e.Handler()}})
	check.Must(t, err)
	return c
}

// each calls f for n objects, as many at once as the CLI does.
func each(t *testing.T, n int, f func(ctx context.Context, i int) error) {
	t.Helper()
	var running sync.WaitGroup
	slots := make(chan struct{}, parallelism)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if err := f(t.Context(), i); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

func (p *pipeline) apply() {
	c := process(p.t, p.e)
	account, err := c.ServiceAccounts.Create(p.t.Context(), serviceaccounts.CreateRequest{Name: p.name})
	if err != nil {
		p.t.Error(err)
		return
	}
	p.account, p.computers = account.ID, make([]string, perPipeline)
	each(p.t, perPipeline, func(ctx context.Context, i int) error {
		made, err := c.Computers.Create(ctx, computers.CreateRequest{Name: fmt.Sprintf("%s-%d", p.name, i), ServiceAccountID: p.account})
		if err != nil {
			return err
		}
		p.computers[i] = made.ID
		watch := c.Computers.Watch(made.ID, p.account)
		defer watch.Close()
		_, err = wait.For(ctx, c.Conn.Clock, 30*time.Minute, wait.Object[computers.Computer]{
			Start:  made,
			Next:   watch.Next,
			Status: func(c *computers.Computer) string { return c.Status },
			States: wait.States{Done: []string{computers.StatusActive}, InProgress: []string{computers.StatusProvisioning}},
		})
		return err
	})
}

func (p *pipeline) destroy() {
	c := process(p.t, p.e)
	if _, err := c.ServiceAccounts.Get(p.t.Context(), p.account); err != nil {
		p.t.Error(err)
	}
	each(p.t, perPipeline, func(ctx context.Context, i int) error {
		_, err := c.Computers.Get(ctx, p.computers[i], p.account)
		return err
	})
	each(p.t, perPipeline, func(ctx context.Context, i int) error { return c.Computers.Delete(ctx, p.computers[i], p.account) })
	if err := c.ServiceAccounts.Delete(p.t.Context(), p.account); err != nil {
		p.t.Error(err)
	}
}

// Pipelines share a rate limit. Time in the bubble passes only while all of them wait, so the number of requests depends on the
// jitter, but not on the machine.
func TestPipelines_shareARateLimit(t *testing.T) {
	for limit, most := range map[float64]struct{ apply, destroy float64 }{
		3:  {3.2, 2.3},
		5:  {2.8, 2.3},
		10: {2.7, 2.3},
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			e := started(t, emulator.Options{RequestsPerSecond: limit})
			synctest.Test(t, func(t *testing.T) {
				all := make([]*pipeline, pipelines)
				for i := range all {
					all[i] = &pipeline{t: t, e: e, name: fmt.Sprintf("team-%d", i)}
				}
				runAll(t, e, all, "apply", (*pipeline).apply, most.apply)
				runAll(t, e, all, "destroy", (*pipeline).destroy, most.destroy)
			})
		})
	}
}

// started returns an emulator that was started outside of the bubble, because a listener would stop the bubble's time.
func started(t *testing.T, options emulator.Options) *emulator.Emulator {
	t.Helper()
	e, err := emulator.Start(t.Context(), options)
	check.Must(t, err)
	return e
}

// runAll runs all pipelines, one more each second. Most is the largest number of requests for each object.
func runAll(t *testing.T, e *emulator.Emulator, all []*pipeline, name string, run func(*pipeline), most float64) {
	t.Helper()
	e.Journal().Reset()
	began := time.Now()
	var running sync.WaitGroup
	for _, p := range all {
		running.Go(func() { run(p) })
		time.Sleep(time.Second)
	}
	running.Wait()
	refused, by := 0, map[string]int{}
	entries := e.Journal().Entries()
	for _, entry := range entries {
		by[entry.Operation]++
		if entry.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	perObject := float64(len(entries)) / (pipelines * (perPipeline + 1))
	t.Logf("%s: %.2f requests for each object, %d %% refused, in %v: %v", name, perObject, 100*refused/len(entries), time.Since(began).Round(time.Second), by)
	if perObject > most {
		t.Errorf("%s: want at most %.2f requests for each object", name, most)
	}
	if single := by["getComputer"]; name == "apply" && single > 5*pipelines {
		t.Errorf("%d computers were read alone", single)
	}
}

// Builds that are shorter than the first pause cost the pause, a read each, and one status request for all that wait.
func TestWaiting_forManyBuilds(t *testing.T) {
	const n, phase = 300, 100 * time.Millisecond
	const rounds = n / parallelism
	e := started(t, emulator.Options{BuildPhase: phase})
	synctest.Test(t, func(t *testing.T) {
		c := process(t, e)
		began := time.Now()
		each(t, n, func(ctx context.Context, i int) error {
			repositories := []environments.Repository{{URL: "https://git.example/acme/app.git", Script: "make"}}
			made, err := c.Environments.Create(ctx, environments.CreateRequest{Name: fmt.Sprint("e", i), Repositories: repositories})
			if err != nil {
				return err
			}
			watch := c.Environments.WatchBuild(made.ID)
			defer watch.Close()
			_, err = wait.For(ctx, c.Conn.Clock, 30*time.Minute, wait.Object[environments.BuildStatus]{
				Next:   watch.Next,
				Status: func(b *environments.BuildStatus) string { return b.EnvironmentStatus },
				States: wait.States{Done: []string{environments.StatusReady}, InProgress: []string{environments.StatusBuilding}},
			})
			if err != nil {
				return err
			}
			_, err = c.Environments.GetNow(ctx, made.ID)
			return err
		})
		took, looks := time.Since(began), e.Journal().Count("getEnvironmentBuildStatuses")
		t.Logf("%d environments took %v, of which their builds %v, with %d status requests", n, took, rounds*3*phase, looks)
		if took > rounds*(500*time.Millisecond+3*latency)+time.Second || looks > rounds+1 {
			t.Error("that is too much")
		}
	})
}

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
	check.Must(t, err)
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
							check.Fails(t, readThing(t.Context(), c))
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
