package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// neverAnswers accepts requests, counts them, and never responds.
type neverAnswers struct {
	requests int
	// begins sends a response without its body.
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

// untilDone is an empty body that ends when its context is done.
type untilDone struct {
	context.Context //nolint:containedctx // The reader ends with it.
}

func (u untilDone) wait() error {
	<-u.Done()
	return u.Err()
}

func (u untilDone) Read([]byte) (int, error) { return 0, u.wait() }

// A slow operation is not cut off early, and not retried after its timeout. In a synctest bubble, the timeout expires only
// when everything else waits.
func TestExchange_slowOperations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op             Operation
		timeout, takes time.Duration
		requests       int
	}{
		"an edit":                           {Operation{Method: http.MethodPost, Slow: true}, time.Minute, 5 * time.Minute, 1},
		"an edit with a longer timeout":     {Operation{Method: http.MethodPost, Slow: true}, 8 * time.Minute, 8 * time.Minute, 1},
		"a forced scan":                     {Operation{Method: http.MethodGet, Slow: true}, time.Minute, 5 * time.Minute, 1},
		"a scan that an earlier one serves": {Operation{Method: http.MethodGet}, time.Minute, 4 * time.Minute, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: clienttest.Key, MaxRetries: 3, RequestTimeout: tc.timeout, Clock: clock.NewFake(clienttest.Start)})
				clienttest.Must(t, err)
				service := &neverAnswers{}
				c.api.Transport = service
				started := time.Now()
				_, err = c.Exchange(t.Context(), Request{Op: tc.op}, OnlyJSON)
				var failure *TransportError
				if !errors.As(err, &failure) || failure.Timeout != "request_timeout" || failure.Unsent {
					t.Errorf("got %#v", err)
				}
				if took := time.Since(started).Round(time.Second); took != tc.takes || service.requests != tc.requests {
					t.Errorf("%d requests took %v", service.requests, took)
				}
			})
		})
	}
}
