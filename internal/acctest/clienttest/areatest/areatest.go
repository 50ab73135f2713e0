// Package areatest connects the client of an API area to the fake services of clienttest.
package areatest

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// New creates the client of an API area.
type New[C any] func(*transport.Conn) C

func (create New[C]) Connected(t testing.TB, cfg transport.Config) C {
	t.Helper()
	conn, err := transport.New(cfg)
	check.Must(t, err)
	return create(conn)
}

// Serve returns a client of a service that responds with handle.
func (create New[C]) Serve(t testing.TB, handle clienttest.Handler) (C, *clienttest.Recorder, *clock.Fake) {
	t.Helper()
	address, rec := clienttest.Serve(t, handle)
	clk := clock.NewFake(clienttest.Start)
	cfg := transport.Config{BaseURL: address, APIKey: clienttest.Key, MaxRetries: 3, Clock: clk, UserAgent: "test/1"}
	return create.Connected(t, cfg), rec, clk
}

// ServeShort handles requests by what clienttest.InShort makes of them.
func (create New[C]) ServeShort(t testing.TB, answer func(call string) string) (C, *clienttest.Recorder, *clock.Fake) {
	t.Helper()
	return create.Serve(t, clienttest.InShort(answer))
}
