package emulator_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// stream is an open stream of events.
type stream struct {
	*env
	*http.Response
	lines *bufio.Scanner
}

// events opens a stream of events on a connection of its own, until the test ends or stop is called.
func (v *env) events() (s stream, stop func()) {
	v.t.Helper()
	ctx, stop := context.WithCancel(v.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.URL()+"/status/events", nil)
	must(v.t, err)
	transport := &http.Transport{}
	v.t.Cleanup(transport.CloseIdleConnections)
	resp, err := transport.RoundTrip(req)
	must(v.t, err)
	v.t.Cleanup(func() {
		stop()
		_ = resp.Body.Close()
	})
	return stream{v, resp, bufio.NewScanner(resp.Body)}, stop
}

// next waits for the next event and returns its name, or empty at the end.
func (s stream) next() string {
	for s.lines.Scan() {
		if name, ok := strings.CutPrefix(s.lines.Text(), "event: "); ok {
			return name
		}
	}
	return ""
}

// nextChange waits for a change. Beats in between do not count.
func (s stream) nextChange() {
	s.t.Helper()
	for {
		switch s.next() {
		case "change":
			return
		case "":
			s.t.Fatal("the stream ended")
		}
	}
}

func TestEvents(t *testing.T) {
	v := startParallel(t)
	s, _ := v.events()
	same(t, "status", s.StatusCode, 200)
	same(t, "Content-Type", s.Header.Get("Content-Type"), "text/event-stream")
	same(t, "Cache-Control", s.Header.Get("Cache-Control"), "no-store")
	s.nextChange() // A new stream may have missed something.
	v.computer(object{"name": "a"})
	s.nextChange()
	for _, e := range v.Journal().Entries() {
		if e.Path == "/status/events" {
			t.Errorf("the stream is in the journal: %+v", e)
		}
	}
}

// However much happens, a page gets at most two events per second.
func TestEvents_areFew(t *testing.T) {
	v := startParallel(t)
	started := time.Now() // Before the first event was sent, because nobody knows when it was read.
	s, _ := v.events()
	s.nextChange()
	for i := range 3 {
		v.computer(object{"name": fmt.Sprintf("a-%d", i)})
		s.nextChange()
	}
	if took := time.Since(started); took < 1400*time.Millisecond {
		t.Errorf("3 events after the first one in %s", took)
	}
}

// Open pages must not keep the emulator from stopping.
func TestEvents_endWithTheEmulator(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*env) error{
		"shutdown": func(v *env) error { return v.Shutdown(context.WithoutCancel(t.Context())) },
		"close":    func(v *env) error { return v.Close() },
	} {
		v := start(t, emulator.Options{})
		s, _ := v.events()
		s.nextChange()
		must(t, end(v))
		for event := s.next(); event != ""; event = s.next() {
			same(t, name+": a late event", event, "change")
		}
	}
}

// A request for only the headers gets no stream. The next one on its connection would wait for the end of it.
func TestEvents_head(t *testing.T) {
	v := startParallel(t)
	p := v.process()
	for range 2 {
		same(t, "status", p.send("HEAD", "/status/events", ""), 200)
	}
}

func TestEvents_areBounded(t *testing.T) {
	v := startParallel(t)
	const most = 32
	var stops []func()
	for range most {
		_, stop := v.events()
		stops = append(stops, stop)
	}
	s, _ := v.events()
	same(t, "status of one more", s.StatusCode, 503)
	stops[7]()
	for s.StatusCode == 503 { // The emulator notices a moment later that the page was closed.
		s, _ = v.events()
	}
	same(t, "status after one was closed", s.StatusCode, 200)
}

// A stream is for browsers on this machine, as the page is.
func TestEvents_loopbackOnly(t *testing.T) {
	v := startParallel(t)
	v.detail(v.as("", 404, "POST", "/status/events", object{}), "no operation at the path /status/events")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.URL()+"/status/events", nil)
	must(t, err)
	req.Host = "rebound.example"
	a, err := do(req)
	must(t, err)
	v.detail(a, "no operation at the path /status/events")
}
