package collection

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// looked is a service that records when it is called and for what, such as "1.5s many a b". It runs inside a synctest bubble.
type looked struct {
	began time.Time
	// hidden are the IDs that Many does not return, and hanging those for which Single never returns.
	hidden, hanging []string
	manyErr         error
	manyTakes       time.Duration
	singleTakes     time.Duration

	mu            sync.Mutex
	calls         []string
	ended         []string
	cut           []string
	running, most int
}

func newLooked() *looked { return &looked{began: time.Now()} }

func (s *looked) note(list *[]string, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, time.Since(s.began).String()+" "+fmt.Sprintf(format, args...))
}

func (s *looked) single(ctx context.Context, id string) (*thing, error) {
	s.note(&s.calls, "single %s", id)
	s.count(1)
	defer s.count(-1)
	takes := s.singleTakes
	if slices.Contains(s.hanging, id) {
		takes = 1000 * time.Hour
	}
	if err := clock.System.Sleep(ctx, takes); err != nil {
		s.note(&s.cut, "single %s", id)
		return nil, err
	}
	return &thing{id: id, state: "alone"}, nil
}

func (s *looked) count(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running += by
	s.most = max(s.most, s.running)
}

func (s *looked) many(ctx context.Context, _ string, ids []string) ([]thing, error) {
	s.note(&s.calls, "many %s", strings.Join(ids, " "))
	if err := clock.System.Sleep(ctx, s.manyTakes); err != nil {
		s.note(&s.cut, "many")
		return nil, err
	}
	all := []thing{{id: "somebody else's"}}
	for _, id := range ids {
		if !slices.Contains(s.hidden, id) {
			all = append(all, thing{id: id, state: "listed"})
		}
	}
	return all, s.manyErr
}

func (s *looked) poller(t *testing.T) *Poller[thing] {
	return NewPoller(inBubble(t, nil, 0), PollSource[thing]{
		Single: s.single, Many: s.many,
		AfterWait: func(key string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ended = append(s.ended, key)
		},
	})
}

func (s *looked) want(t *testing.T, calls ...string) {
	t.Helper()
	synctest.Wait()
	if !slices.Equal(s.calls, calls) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(s.calls, "\n"), strings.Join(calls, "\n"))
	}
}

// bubble runs a test in a synctest bubble.
func bubble(t *testing.T, test func(t *testing.T, s *looked, p *Poller[thing])) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLooked()
		p := s.poller(t)
		test(t, s, p)
		synctest.Wait()
		if len(p.groups) > 0 {
			t.Error("a group is left although nobody waits")
		}
	})
}

const half = 500 * time.Millisecond

func mustNext(t *testing.T, w *Watch[thing], pause time.Duration) *thing {
	t.Helper()
	got, err := w.Next(t.Context(), pause)
	if err != nil || got.id != w.id {
		t.Errorf("%s: got %+v, %v", w.id, got, err)
	}
	return got
}

func TestPoller_aHundredWaitersShareTheirLooks(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		var ids []string
		var all sync.WaitGroup
		for i := range 100 {
			id := fmt.Sprintf("%03d", i)
			ids = append(ids, id)
			all.Go(func() {
				w := p.Watch("", id)
				defer w.Close()
				for _, pause := range []time.Duration{half, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second} {
					mustNext(t, w, pause)
				}
			})
		}
		all.Wait()
		many := " many " + strings.Join(ids, " ")
		s.want(t, "500ms"+many, "1.5s"+many, "3.5s"+many, "7.5s"+many, "12.5s"+many)
	})
}

func TestPoller_asksForThoseWhoWaitAndNobodyElse(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		var all sync.WaitGroup
		wait := func(key, id string, pauses ...time.Duration) {
			all.Go(func() {
				for _, pause := range pauses {
					mustNext(t, p.Watch(key, id), pause)
				}
			})
		}
		wait("", "a", half, time.Second, time.Second, time.Second)
		wait("", "b", half, time.Second, time.Second)
		all.Go(func() {
			mustNext(t, p.Watch("", "busy"), half)
			time.Sleep(1500 * time.Millisecond)
			mustNext(t, p.Watch("", "busy"), time.Hour)
		})
		wait("other", "c", 700*time.Millisecond)
		all.Wait()
		s.want(t, "500ms many a b busy", "700ms single c", "1.5s many a b", "2.5s many a b busy", "3.5s single a")
	})
}

func TestPoller_whoeverIsInAHurryHasAllLookedFor(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		var all sync.WaitGroup
		all.Go(func() { mustNext(t, p.Watch("", "patient"), time.Hour) })
		time.Sleep(time.Second)
		all.Go(func() { mustNext(t, p.Watch("", "hasty"), half) })
		all.Wait()
		s.want(t, "1.5s many hasty patient")
	})
}

func TestPoller_twoWhoWaitForTheSameGetTheirOwn(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		var got [2]*thing
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() { got[i] = mustNext(t, p.Watch("", "a"), half) })
		}
		all.Wait()
		s.want(t, "500ms many a")
		if got[0] == got[1] {
			t.Error("they share one object")
		}
	})
}

func TestPoller_aSingleLookThatHangsDelaysNobodyElse(t *testing.T) {
	for name, others := range map[string][]string{"many others": {"a", "b"}, "one other": {"a"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
				s.hidden, s.hanging = []string{"x"}, []string{"x"}
				ctx, cancel := context.WithCancel(t.Context())
				var hung, all sync.WaitGroup
				hung.Go(func() {
					if _, err := p.Watch("", "x").Next(ctx, half); !errors.Is(err, context.Canceled) {
						t.Errorf("got %v", err)
					}
				})
				for _, id := range others {
					all.Go(func() {
						mustNext(t, p.Watch("", id), half)
						mustNext(t, p.Watch("", id), time.Second)
					})
				}
				all.Wait()
				again := " many " + strings.Join(others, " ")
				if len(others) == 1 {
					again = " single a"
				}
				s.want(t, "500ms many "+strings.Join(others, " ")+" x", "500ms single x", "1.5s"+again)
				cancel()
				hung.Wait()
				synctest.Wait()
				if !slices.Equal(s.cut, []string{"1.5s single x"}) {
					t.Errorf("cut off: %v", s.cut)
				}
			})
		})
	}
}

func TestPoller_whatOneRequestDoesNotBringIsAskedForAFewAtATime(t *testing.T) {
	for name, tc := range map[string]struct {
		hide    bool
		err     error
		answers map[string]int // How many waiters have their result, and when.
		want    string
	}{
		"all there":       {want: "listed", answers: map[string]int{"500ms": 20}},
		"not in it":       {hide: true, want: "alone", answers: map[string]int{"1.5s": 8, "2.5s": 8, "3.5s": 4}},
		"refused":         {err: &transport.APIError{Status: http.StatusForbidden}, want: "alone", answers: map[string]int{"1.5s": 8, "2.5s": 8, "3.5s": 4}},
		"there is no way": {err: &transport.APIError{Status: http.StatusNotFound}, want: "alone", answers: map[string]int{"1.5s": 8, "2.5s": 8, "3.5s": 4}},
		"failed":          {err: &transport.APIError{Status: http.StatusInternalServerError}, answers: map[string]int{"500ms": 20}},
		"broken":          {err: &transport.TransportError{Err: errors.New("broken")}, answers: map[string]int{"500ms": 20}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
				s.manyErr, s.singleTakes = tc.err, time.Second
				var mu sync.Mutex
				answers := map[string]int{}
				var all sync.WaitGroup
				for i := range 20 {
					id := fmt.Sprint(i)
					if tc.hide {
						s.hidden = append(s.hidden, id)
					}
					all.Go(func() {
						got, err := p.Watch("", id).Next(t.Context(), half)
						if tc.want == "" && !errors.Is(err, tc.err) || tc.want != "" && (err != nil || got.id != id || got.state != tc.want) {
							t.Errorf("got %+v, %v", got, err)
						}
						mu.Lock()
						defer mu.Unlock()
						answers[time.Since(s.began).String()]++
					})
				}
				all.Wait()
				if fmt.Sprint(answers) != fmt.Sprint(tc.answers) || s.most > maxAlone {
					t.Errorf("answers at %v, want %v; %d requests at a time", answers, tc.answers, s.most)
				}
			})
		})
	}
}

func TestPoller_aLookEndsWithTheLastWaiter(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		s.manyTakes = time.Hour
		var all sync.WaitGroup
		leave := func(id string, pause, after time.Duration) {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				if _, err := p.Watch("", id).Next(ctx, pause); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
				if got := time.Since(s.began); got != after {
					t.Errorf("%s left after %v, want %v", id, got, after)
				}
			})
		}
		leave("too early", half, 100*time.Millisecond)
		leave("first", half, time.Second)
		leave("last", half, 2*time.Second)
		all.Wait()
		s.want(t, "500ms many first last")
		if !slices.Equal(s.cut, []string{"2s many"}) {
			t.Errorf("cut off: %v", s.cut)
		}
	})
}

func TestPoller_nobodyIsLookedForWhoHasLeft(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Watch("", "a").Next(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if len(p.groups) > 0 {
			t.Error("the group sleeps on")
		}
		time.Sleep(2 * time.Hour)
		s.want(t)
	})
}

func TestPoller_closeTellsOnceThatAWaitHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		a, b := p.Watch("x", "a"), p.Watch("y", "b")
		mustNext(t, a, half)
		if len(s.ended) > 0 {
			t.Errorf("ended before its end: %v", s.ended)
		}
		a.Close()
		a.Close()
		b.Close()
		if !slices.Equal(s.ended, []string{"x", "y"}) {
			t.Errorf("ended: %v", s.ended)
		}
	})
}

// inBubble returns a connection for a synctest bubble.
func inBubble(t *testing.T, service http.RoundTripper, requestsPerSecond float64) *transport.Conn {
	t.Helper()
	return connected(t, transport.Config{
		BaseURL: "https://agentyard.example", APIKey: clienttest.Key, RequestsPerSecond: requestsPerSecond, Clock: clock.System, Transport: service,
	})
}

// A rate limit delays the second request to 2s. How many wait then decides which request it is, and they share its response.
func TestPoller_theRequestIsChosenWhenItsTurnHasCome(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		late []string
		want string
	}{
		"one":     {want: "2s GET /api/v0/things/b"},
		"another": {[]string{"late"}, "2s GET /api/v0/things"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := clienttest.NewBubbled(func(call string) string {
					if strings.HasSuffix(call, "/b") {
						return `200 {"id":"b"}`
					}
					return `200 [{"id":"a"},{"id":"b"},{"id":"late"}]`
				})
				conn := inBubble(t, service, 0.5)
				list := func(ctx context.Context, _ string, _ []string) ([]listedRow, error) {
					all, err := transport.Call[[]listedRow](ctx, conn, transport.Request{Op: transport.Operation{Name: "list", Method: http.MethodGet, Route: "/api/v0/things"}})
					if err != nil {
						return nil, err
					}
					return *all, nil
				}
				single := func(ctx context.Context, id string) (*listedRow, error) {
					return transport.Call[listedRow](ctx, conn, transport.Request{Op: transport.Operation{Name: "get", Method: http.MethodGet, Route: "/api/v0/things/{id}"}, Path: []string{id}})
				}
				p := NewPoller(conn, PollSource[listedRow]{Single: single, Many: list})
				if _, err := list(t.Context(), "", nil); err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				next := func(ctx context.Context, id string, wantErr error) {
					all.Go(func() {
						got, err := p.Watch("", id).Next(ctx, half)
						if !errors.Is(err, wantErr) || err == nil && got.ID != id {
							t.Errorf("%s: got %+v, %v", id, got, err)
						}
					})
				}
				impatient, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				next(impatient, "a", context.DeadlineExceeded)
				next(impatient, "b", context.DeadlineExceeded)
				next(t.Context(), "b", nil)
				time.Sleep(1200 * time.Millisecond)
				for _, id := range tc.late {
					next(t.Context(), id, nil)
				}
				all.Wait()
				service.Want(t, "0s GET /api/v0/things", tc.want)
			})
		})
	}
}

// Nobody waits for a turn that comes too late.
func TestPoller_aTurnThatComesTooLateIsAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn := inBubble(t, nil, 0.001)
		turn, err := conn.AwaitTurn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		turn.PassBack()
		p := NewPoller(conn, PollSource[thing]{})
		if _, err := p.Watch("", "a").Next(t.Context(), half); err == nil || !strings.Contains(err.Error(), "rate limit") {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
	})
}

// The turn of waiters who have left goes to nobody, and does not end the group for those who come later.
func TestPoller_aTurnOfThoseWhoHaveLeft(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		p.conn = inBubble(t, nil, 0.5)
		turn, err := p.conn.AwaitTurn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		turn.PassBack()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Watch("", "a").Next(impatient, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		mustNext(t, p.Watch("", "b"), 0)
		s.want(t, "4s single b")
	})
}
