package environments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func TestEnvironmentNow_readsTogetherWhatComesTogether(t *testing.T) {
	const ready, failed = `,"isDefault":false,"status":"ready"`, `,"isDefault":false,"status":"failed"`
	alone := func(call string) string {
		_, id, _ := strings.Cut(call, "/")
		more := failed
		if id == "silent" {
			more = `,"status":"failed"` // The listing has already shown whether it is the default.
		}
		return "200 " + env(id, "a", more+`,"failureReason":"alone"`)
	}
	three := []string{"env_1", "env_2", "env_3"}
	singles := []string{"250ms GET ", "250ms GET /env_1", "250ms GET /env_2", "250ms GET /env_3"}
	for name, tc := range map[string]struct {
		list  string
		ids   []string
		calls []string
		alone []string // The environments that need their own read.
		err   func(error) bool
	}{
		"one alone":                {ids: three[:1], calls: []string{"250ms GET /env_1"}, alone: three[:1]},
		"many":                     {list: listed(env("env_1", "a", ready), env("env_2", "a", ready), env("env_3", "a", ready)), ids: three, calls: singles[:1]},
		"one twice":                {list: listed(env("env_1", "a", ready)), ids: []string{"env_1", "env_1"}, calls: singles[:1]},
		"a failed one":             {list: listed(env("env_1", "a", ready), env("env_2", "a", failed)), ids: three[:2], calls: []string{singles[0], singles[2]}, alone: three[1:2]},
		"one that is silent alone": {list: listed(env("silent", "a", failed), env("env_2", "a", ready)), ids: []string{"silent", "env_2"}, calls: []string{singles[0], "250ms GET /silent"}, alone: []string{"silent"}},
		"one is hidden":            {list: listed(env("env_1", "a", ready), env("env_2", "a", ready)), ids: three, calls: []string{singles[0], singles[3]}, alone: three[2:]},
		"403":                      {list: `403 {"detail":"no"}`, ids: three, calls: singles, alone: three},
		"400":                      {list: `400 {"detail":"no"}`, ids: three, calls: singles, alone: three},
		"404":                      {list: `404 {"detail":"no"}`, ids: three, calls: singles, alone: three},
		"501":                      {list: `501 {"detail":"no"}`, ids: three, calls: singles[:1], err: clienttest.Is[*transport.APIError]},
		"nothing usable":           {list: "200 {}", ids: three, calls: singles[:1], err: clienttest.Is[*wire.ResponseError]},
	} {
		t.Run(name, func(t *testing.T) {
			area.InBubble(t, func(call string) string {
				if call == "GET " {
					return tc.list
				}
				return alone(call)
			}, func(t *testing.T, c *Client, b *clienttest.Bubbled) {
				var all sync.WaitGroup
				for _, id := range tc.ids {
					all.Go(func() {
						e, err := c.GetNow(t.Context(), id)
						if !clienttest.IsA(err, tc.err) || err == nil && (e.ID != id || (e.FailureReason == "alone") != slices.Contains(tc.alone, id)) {
							t.Errorf("%s: got %+v, %v", id, e, err)
						}
					})
				}
				all.Wait()
				b.Want(t, tc.calls...)
			})
		})
	}
}

// A request that was in flight when a read starts may have older content.
func TestEnvironmentNow_isNotOlderThanTheCall(t *testing.T) {
	status := "building"
	area.InBubble(t, func(call string) string {
		record := env("env_1", "a", `,"isDefault":false,"status":"`+status+`"`)
		if call == "GET " {
			return "wait " + listed(record, env("env_2", "b", `,"isDefault":false`))
		}
		return "200 " + record
	}, func(t *testing.T, c *Client, b *clienttest.Bubbled) {
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if e, err := c.GetNow(t.Context(), "env_1"); err != nil || e.Status != "building" {
					t.Errorf("the first got %+v, %v", e, err)
				}
			})
		}
		all.Go(func() { _, _ = c.GetNow(t.Context(), "env_2") })
		time.Sleep(time.Second)
		b.Mu.Lock()
		status = "ready"
		b.Mu.Unlock()
		all.Go(func() {
			if e, err := c.GetNow(t.Context(), "env_1"); err != nil || e.Status != "ready" {
				t.Errorf("the second got %+v, %v", e, err)
			}
		})
		time.Sleep(time.Second)
		close(b.Waiting)
		all.Wait()
		b.Want(t, "2s GET ", "250ms GET ")
	})
}

func TestEnvironmentNow_endsWithItsContext(t *testing.T) {
	area.InBubble(t, func(string) string { return "wait " + listed() }, func(t *testing.T, c *Client, b *clienttest.Bubbled) {
		var all sync.WaitGroup
		for _, id := range []string{"env_1", "env_2"} {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := c.GetNow(ctx, id); !errors.Is(err, context.DeadlineExceeded) || time.Since(b.Began) != time.Second {
					t.Errorf("%s: got %v after %v", id, err, time.Since(b.Began))
				}
			})
		}
		all.Wait()
		close(b.Waiting) // The listing is shared, so it goes on.
		b.Want(t, "250ms GET ")
	})
}

// Under a rate limit, each listing delays a creation. There are few listings, however the creations and the ends of the builds
// are spread: with ten at a time, there are three rounds, one listing before them, and some for stragglers.
func TestEnvironmentNow_ofManyUnderALimit(t *testing.T) {
	const n, atATime, builds = 30, 10, 900 * time.Millisecond
	began, made := time.Time{}, map[string]time.Time{}
	status := func(id string) string {
		if time.Since(made[id]) < builds {
			return "building"
		}
		return "ready"
	}
	area.InBubble(t, func(call string) string {
		var found []string
		for id := range made {
			found = append(found, env(id, id, `,"isDefault":false,"status":"`+status(id)+`"`))
		}
		switch method, id, _ := strings.Cut(call, "/"); {
		case method == "POST ":
			id := fmt.Sprint("env_", len(made))
			made[id] = time.Now()
			return `200 {"id":"` + id + `","buildId":"b"}`
		case call == "GET ":
			return listed(found...)
		case strings.HasPrefix(id, "build-statuses"):
			var seen []string
			for id := range made {
				seen = append(seen, fmt.Sprintf(`{"environmentId":%q,"environmentStatus":%q}`, id, status(id)))
			}
			return `200 {"builds":[` + strings.Join(seen, ",") + "]}"
		default:
			return "200 " + env(id, id, `,"isDefault":false,"status":"`+status(id)+`"`)
		}
	}, func(t *testing.T, c *Client, b *clienttest.Bubbled) {
		began = time.Now()
		c.conn.Limiter = transport.NewLimiter(clock.System, func() float64 { return 0 }, c.conn.Retry.Backoff, 3)
		var all sync.WaitGroup
		slots := make(chan struct{}, atATime)
		for k := range n {
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				e, err := c.Create(t.Context(), CreateRequest{Name: fmt.Sprint("e", k), Repositories: []Repository{}})
				if err != nil {
					t.Error(err)
					return
				}
				watch := c.WatchBuild(e.ID)
				defer watch.Close()
				for pause, isBuilt := 500*time.Millisecond, false; !isBuilt; pause *= 2 {
					seen, err := watch.Next(t.Context(), pause)
					if err != nil {
						t.Error(err)
						return
					}
					isBuilt = seen.EnvironmentStatus == "ready"
				}
				if found, err := c.GetNow(t.Context(), e.ID); err != nil || found.Status != "ready" {
					t.Errorf("got %+v, %v", found, err)
				}
			})
		}
		all.Wait()
		listings := 0
		for _, call := range b.Seen {
			if strings.HasSuffix(call, " GET ") {
				listings++
			}
		}
		t.Logf("%d listings of %d requests in %v", listings, len(b.Seen), time.Since(began))
		if listings > 6 {
			t.Errorf("asked %q", b.Seen)
		}
	})
}
