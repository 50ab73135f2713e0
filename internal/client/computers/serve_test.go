package computers

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func connected(t testing.TB, cfg transport.Config) *Client {
	t.Helper()
	conn, err := transport.New(cfg)
	clienttest.Must(t, err)
	return New(conn, serviceaccounts.New(conn))
}

// serve returns a client of a service that responds with handle.
func serve(t testing.TB, handle clienttest.Handler) (*Client, *clienttest.Recorder, *clock.Fake) {
	t.Helper()
	address, rec := clienttest.Serve(t, handle)
	clk := clock.NewFake(clienttest.Start)
	return connected(t, transport.Config{BaseURL: address, APIKey: clienttest.Key, MaxRetries: 3, Clock: clk, UserAgent: "test/1"}), rec, clk
}
