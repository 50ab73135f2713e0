package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// neverAnswers takes every request and says nothing. It counts them.
type neverAnswers struct {
	requests int
	// begins says that an answer begins, and its body never comes.
	begins bool
}

func (n *neverAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	n.requests++
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	if n.begins {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(untilDone{r.Context()})}, nil
	}
	return nil, untilDone{r.Context()}.wait()
}

// untilDone is a body that holds nothing and ends with a context.
type untilDone struct {
	context.Context //nolint:containedctx // The reader ends with it.
}

func (u untilDone) wait() error {
	<-u.Done()
	return u.Err()
}

func (u untilDone) Read([]byte) (int, error) { return 0, u.wait() }

// What the service may work on for minutes is not cut off before, nor begun again after its time. In a bubble the time runs
// out when nothing else is left to do.
func TestExchange_slowOperations(t *testing.T) {
	t.Parallel()
	slowEdit := func(ctx context.Context, c *Client) error { _, err := c.EditCIWorkflow(ctx, deletion); return err }
	scan := func(isForced bool) func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error { _, err := c.ScanCIWorkflows(ctx, isForced); return err }
	}
	sessions := func(ctx context.Context, c *Client) error { _, err := c.Sessions(ctx, "7", 0); return err }
	for name, tc := range map[string]struct {
		call           func(context.Context, *Client) error
		timeout, takes time.Duration
		requests       int
		atLeast        time.Duration
	}{
		"an edit":                           {slowEdit, time.Minute, 5 * time.Minute, 1, 5 * time.Minute},
		"an edit with a longer timeout":     {slowEdit, 8 * time.Minute, 8 * time.Minute, 1, 0},
		"a forced scan":                     {scan(true), time.Minute, 5 * time.Minute, 1, 5 * time.Minute},
		"a scan that an earlier one serves": {scan(false), time.Minute, 4 * time.Minute, 4, 0},
		"a listing of sessions":             {sessions, time.Minute, 5 * time.Minute, 1, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: testKey, MaxRetries: 3, RequestTimeout: tc.timeout, Clock: clock.NewFake(testStart)})
				if err != nil {
					t.Fatal(err)
				}
				service := &neverAnswers{}
				c.api.HTTPClient.Transport = service
				started := time.Now()
				err = tc.call(t.Context(), c)
				var failure *TransportError
				if !errors.As(err, &failure) || failure.Timeout != "request_timeout" || failure.Unsent || failure.AtLeast != tc.atLeast {
					t.Errorf("got %#v", err)
				}
				var uncertain *UncertainEditError
				if errors.As(err, &uncertain) != failure.Changes {
					t.Errorf("uncertain is %v: %v", !failure.Changes, err)
				}
				if took := time.Since(started).Round(time.Second); took != tc.takes || service.requests != tc.requests {
					t.Errorf("%d requests took %v", service.requests, took)
				}
			})
		})
	}
}

// The gateway's word that the time is over counts like the end of the own time.
func TestExchange_slowReadIsNotRepeatedAfterAGatewayTimeout(t *testing.T) {
	t.Parallel()
	for isForced, requests := range map[bool]int{true: 1, false: 4} {
		c, rec, _ := serveShort(t, func(string) string { return "504 <html>" })
		if _, err := c.ScanCIWorkflows(t.Context(), isForced); StatusOf(err) != 504 || rec.count(http.MethodGet) != requests {
			t.Errorf("forced %v: %d requests, %v", isForced, rec.count(http.MethodGet), err)
		}
	}
}
