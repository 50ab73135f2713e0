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

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// looked is a service that records when it is called and for what, such as "1.5s many a b". It runs inside a synctest bubble.
type looked struct {
	began time.Time
	// hidden are the IDs that Many does not return.
	hidden      []string
	manyErr     error
	manyTakes   time.Duration
	singleTakes time.Duration

	mu            sync.Mutex
	calls         []string
	ended         []string
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
	if err := clock.System.Sleep(ctx, s.singleTakes); err != nil {
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
	check.Is(t, "asked", s.calls, calls)
}

// bubble runs a test in a synctest bubble.
func bubble(t *testing.T, test func(t *testing.T, s *looked, p *Poller[thing])) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLooked()
		p := s.poller(t)
		test(t, s, p)
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

// Waiters with pauses of their own take the latest poll that they have not seen. The last one reads its object alone.
func TestPoller_takesTheLatestPoll(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		var all sync.WaitGroup
		wait := func(key, id string, pauses ...time.Duration) {
			all.Go(func() {
				w := p.Watch(key, id)
				defer w.Close()
				for _, pause := range pauses {
					mustNext(t, w, pause)
				}
			})
		}
		wait("", "a", half, time.Second, time.Second)
		wait("", "b", 600*time.Millisecond, time.Second)
		wait("other", "c", 700*time.Millisecond)
		all.Wait()
		s.want(t, "500ms many a b", "700ms single c", "1.5s many a b", "2.5s single a")
	})
}

// A poll that started before a watch may be older than its object. There is one poll at a time, so the watch waits for the next.
func TestPoller_newWatchDuringAPoll(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		s.manyTakes = time.Second
		var all sync.WaitGroup
		wait := func(id string) {
			all.Go(func() {
				w := p.Watch("", id)
				defer w.Close()
				mustNext(t, w, half)
				time.Sleep(time.Minute)
			})
		}
		wait("a")
		wait("b")
		time.Sleep(700 * time.Millisecond)
		wait("c")
		wait("d")
		all.Wait()
		s.want(t, "500ms many a b", "1.5s many a b c d")
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
		check.Is(t, "they share one object", got[0] == got[1], false)
	})
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

// Nobody is asked for after Close: who comes next is alone.
func TestPoller_closeTellsOnceThatAWaitHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T, s *looked, p *Poller[thing]) {
		a, b := p.Watch("x", "a"), p.Watch("y", "b")
		mustNext(t, a, half)
		check.None(t, "ended before its end", s.ended)
		a.Close()
		a.Close()
		b.Close()
		check.Is(t, "ended", s.ended, []string{"x", "y"})
		mustNext(t, p.Watch("x", "c"), half)
		s.want(t, "500ms single a", "1s single c")
	})
}

// inBubble returns a connection for a synctest bubble.
func inBubble(t *testing.T, service http.RoundTripper, requestsPerSecond float64) *transport.Conn {
	t.Helper()
	return connected(t, transport.Config{
		BaseURL: "https://agentyard.example", APIKey: clienttest.Key, RequestsPerSecond: requestsPerSecond, Clock: clock.System, Transport: service,
	})
}
