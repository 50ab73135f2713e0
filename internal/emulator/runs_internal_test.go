package emulator

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

const testAgent = statuspage.ProviderAgent + "1.2.3 Terraform/1.16.4"

// wire is a connection that nothing is sent on.
type wire struct {
	net.Conn
	*runs
	t *testing.T
}

func (w *wire) request(agent, key string) *http.Request {
	r := httptest.NewRequestWithContext(w.begin(w.t.Context(), w), http.MethodGet, "/", nil)
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Authorization", "Bearer "+key)
	return r
}

func TestRuns(t *testing.T) {
	t.Parallel()
	closings := 0
	s, now := newRuns(func() { closings++ }), time.Now()
	opened := func() *wire { return &wire{runs: s, t: t} }
	expect := func(what string, r *http.Request, at time.Time, want int) *run {
		t.Helper()
		got := s.join(r, at)
		if got.number != want || got.agent != r.UserAgent() {
			t.Errorf("%s: run %d of %q, want %d", what, got.number, got.agent, want)
		}
		return got
	}
	closed := func(wires ...*wire) {
		for _, w := range wires {
			s.changed(w, http.StateClosed)
		}
	}
	first, second, third := opened(), opened(), opened()
	r := first.request(testAgent, "a")
	expect("the first request", r, now, 1)
	expect("the same connection an hour later", r, now.Add(time.Hour), 1)
	expect("a connection beside it", second.request(testAgent, "a"), now, 1)
	expect("another key", third.request(testAgent, "b"), now, 2)
	closed(first)
	fourth := opened()
	expect("one connection is left", fourth.request(testAgent, "a"), now, 1)
	if numbers := s.connected(); len(numbers) != 2 || !numbers[1] || !numbers[2] {
		t.Errorf("connected: %v", numbers)
	}
	s.changed(second, http.StateIdle)
	closed(second, fourth, third)
	if numbers := s.connected(); len(numbers) != 0 || len(s.current) != 0 || len(s.open) != 0 {
		t.Errorf("after all connections closed: %v, %v, %v", numbers, s.current, s.open)
	}

	s.begin(t.Context(), first)
	closed(first)
	if closings != 4 {
		t.Errorf("%d closings of connections with requests, want 4", closings)
	}

	fifth, sixth, seventh := opened(), opened(), opened()
	apply := expect("a new process", fifth.request(testAgent, "a"), now, 3)
	s.cut(apply, time.Now())
	closed(fifth)
	expect("a retry after a cut", sixth.request(testAgent, "a"), time.Now(), 3)
	closed(sixth)
	apply = expect("the next process after the retry", seventh.request(testAgent, "a"), time.Now(), 4)
	s.cut(apply, time.Now())
	closed(seventh)
	eighth := opened()
	expect("long after a cut", eighth.request(testAgent, "a"), time.Now().Add(cutGrace), 5)

	for i := range 3 {
		w := opened()
		expect("curl again and again", w.request("curl/8.5.0", "a"), time.Now(), 6)
		closed(w)
		if i == 2 {
			expect("curl a minute later", opened().request("curl/8.5.0", "a"), time.Now().Add(otherGrace), 7)
		}
	}
}
