package collection

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func connected(t testing.TB, cfg transport.Config) *transport.Conn {
	t.Helper()
	conn, err := transport.New(cfg)
	clienttest.Must(t, err)
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
		clienttest.Must(t, err)
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if _, err := l.Lock(stopped, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled wait ended with %v", err)
		}
		other, err := l.Lock(t.Context(), "b")
		clienttest.Must(t, err)
		other()
		hasLock := false
		go func() {
			if again, err := l.Lock(t.Context(), "a"); err == nil {
				hasLock = true
				again()
			}
		}()
		synctest.Wait()
		if hasLock {
			t.Error("two callers held the same lock")
		}
		release()
		synctest.Wait()
		if !hasLock {
			t.Error("a released lock was not taken")
		}
	})
}
