package collection

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

type thing struct{ id, state string }

func (t *thing) Ref() wire.Ref { return wire.Ref{ID: t.id, Name: t.state} }

func (t *thing) MissingField() string { return "" }

// source counts its listings and reads.
type source struct {
	lists, gets atomic.Int64
	things      []thing
	err         error
	gate        chan struct{} // If it is not nil, a listing waits for it.
	started     chan struct{} // A listing that waits for gate sends here.
}

func (s *source) list(context.Context, string) ([]thing, error) {
	s.lists.Add(1)
	if s.gate != nil {
		s.started <- struct{}{}
		<-s.gate
	}
	return s.things, s.err
}

func (s *source) get(context.Context, string) (*thing, error) {
	s.gets.Add(1)
	return &thing{state: "alone"}, nil
}

func newSource(n int) *source {
	s := &source{}
	for i := range n {
		s.things = append(s.things, thing{id: fmt.Sprint(i)})
	}
	return s
}

func (s *source) shared(clk clock.Clock) *Listing[thing] { return NewListing(clk, s.list) }

func mustGet(t *testing.T, sh *Listing[thing], s *source, key, id string) *thing {
	t.Helper()
	got, err := sh.Get(t.Context(), key, id, s.get)
	check.Must(t, err)
	return got
}

func TestListing_expiresAndIsDiscarded(t *testing.T) {
	t.Parallel()
	s := newSource(2)
	clk := clock.NewFake(time.Now())
	sh := s.shared(clk)
	readTwice := func() { mustGet(t, sh, s, "", "0"); mustGet(t, sh, s, "", "1") }
	readTwice()
	clk.Advance(SharedLifetime - time.Nanosecond)
	readTwice()
	check.Is(t, "listings before the lifetime is over", s.lists.Load(), 1)
	clk.Advance(time.Nanosecond)
	readTwice()
	check.Is(t, "listings after the lifetime", s.lists.Load(), 2)
	sh.Invalidate("")
	readTwice()
	check.Is(t, "listings after a write", s.lists.Load(), 3)
}

func TestListing_aListingDuringAWriteIsNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSource(2)
		s.gate, s.started = make(chan struct{}), make(chan struct{}, 2)
		sh := s.shared(clock.NewFake(time.Now()))
		mustGet(t, sh, s, "", "0")
		done := make(chan struct{})
		go func() { defer close(done); _, _ = sh.Get(context.Background(), "", "1", s.get) }()
		<-s.started
		sh.Invalidate("")
		close(s.gate)
		<-done
		mustGet(t, sh, s, "", "0")
		mustGet(t, sh, s, "", "1")
		check.Is(t, "listings", s.lists.Load(), 2)
	})
}

// A 404 of the service itself means that an object is gone, unless a listing has it.
func TestListing_notFound(t *testing.T) {
	t.Parallel()
	notFound := &transport.APIError{Status: 404, FromService: true}
	for name, tc := range map[string]struct {
		id      string
		listErr error
		single  error
		want    func(error) bool
	}{
		"not listed":               {id: "9", single: notFound, want: IsGone},
		"not listable":             {id: "9", listErr: &transport.APIError{Status: 403}, single: notFound, want: IsGone},
		"another server's 404":     {id: "9", single: &transport.APIError{Status: 404}, want: clienttest.Is[*transport.APIError]},
		"listed":                   {id: "1", single: notFound, want: func(err error) bool { return err == nil }},
		"not listed, another 5xx":  {id: "9", single: &transport.APIError{Status: 500}, want: clienttest.Is[*transport.APIError]},
		"the listing fails for it": {id: "1", listErr: &transport.APIError{Status: 500}, single: notFound, want: clienttest.Is[*transport.APIError]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSource(2)
			s.err = tc.listErr
			sh := s.shared(clock.NewFake(time.Now()))
			mustGet(t, sh, s, "", "0") // The next read lists.
			got, err := sh.Get(t.Context(), "", tc.id, func(context.Context, string) (*thing, error) { return nil, tc.single })
			if !tc.want(err) || (err == nil) != (got != nil) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// A peek sends nothing, and a write that fails drops the listing.
func TestListing_peeks(t *testing.T) {
	t.Parallel()
	s := newSource(2)
	sh := s.shared(clock.NewFake(time.Now()))
	peek := func(id string, isThere bool) {
		t.Helper()
		if got := sh.Peek(t.Context(), "", id); (got != nil) != isThere || s.lists.Load() != 1 {
			t.Errorf("got %+v after %d listings", got, s.lists.Load())
		}
	}
	if all, err := sh.All(t.Context(), ""); err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	peek("1", true)
	peek("9", false)
	sh.Invalidate("")
	peek("1", false)
	s.err = errors.New("broken")
	sh.listed.Start(t.Context(), "", func(context.Context) (*Objects[thing], error) { return nil, s.err })
	check.Is(t, "of a listing that fails", sh.Peek(t.Context(), "", "1"), nil)
}

func connected(t testing.TB, cfg transport.Config) *transport.Conn {
	t.Helper()
	conn, err := transport.New(cfg)
	check.Must(t, err)
	return conn
}

// serve returns a connection to a service that responds with handle.
func serve(t testing.TB, handle clienttest.Handler) (*transport.Conn, *clienttest.Recorder, *clock.Fake) {
	t.Helper()
	address, rec := clienttest.Serve(t, handle)
	clk := clock.NewFake(clienttest.Start)
	return connected(t, transport.Config{BaseURL: address, APIKey: clienttest.Key, MaxRetries: 3, Clock: clk, UserAgent: "test/1"}), rec, clk
}

func serveShort(t testing.TB, answer func(call string) string) (*transport.Conn, *clienttest.Recorder, *clock.Fake) {
	t.Helper()
	return serve(t, clienttest.InShort(answer))
}

func TestLocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l Locks
		release, err := l.Lock(t.Context(), "a")
		check.Must(t, err)
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if _, err := l.Lock(stopped, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled wait ended with %v", err)
		}
		other, err := l.Lock(t.Context(), "b")
		check.Must(t, err)
		other()
		hasLock := false
		go func() {
			if again, err := l.Lock(t.Context(), "a"); err == nil {
				hasLock = true
				again()
			}
		}()
		synctest.Wait()
		check.Is(t, "two callers hold the same lock", hasLock, false)
		release()
		synctest.Wait()
		check.Is(t, "a released lock is taken", hasLock, true)
	})
}
