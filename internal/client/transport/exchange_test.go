package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

var (
	aRead   = Request{Op: Operation{Name: "getThing", Method: http.MethodGet, Route: "/thing"}}
	aWrite  = Request{Op: Operation{Name: "createThing", Method: http.MethodPost, Route: "/thing"}}
	aChange = Request{Op: Operation{Name: "updateThing", Method: http.MethodPatch, Route: "/thing"}}
)

func TestExchange_aWriteInFlightRunsToItsAnswer(t *testing.T) {
	t.Parallel()
	for name, start := range ending(t) {
		for _, r := range []Request{aWrite, aChange} {
			t.Run(name+" "+r.Op.Method, func(t *testing.T) {
				t.Parallel()
				ctx, end := start()
				c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
					end()
					clienttest.RespondJSON(w, 201, `{"id":"t1"}`)
				})
				if got, err := c.Exchange(ctx, r, OnlyJSON); err != nil || string(got.Body) != `{"id":"t1"}` {
					t.Errorf("got %+v, %v, want the answer", got, err)
				}
				if _, err := c.Exchange(ctx, r, OnlyJSON); !errors.Is(err, ctx.Err()) || IsAmbiguous(err) || rec.Count(r.Op.Method) != 1 {
					t.Errorf("after the end of the context: %v, %d requests", err, rec.Count(r.Op.Method))
				}
			})
		}
	}
}

// The error of a request has the end of its context, and the fault only where there was no end.
func TestExchange_tellsTheEndOfTheContext(t *testing.T) {
	t.Parallel()
	for name, start := range ending(t) {
		ctx, end := start()
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n > 1 {
				end()
			}
			clienttest.Drop(w)
		})
		if _, err := c.Exchange(ctx, aWrite, OnlyJSON); err == nil || err.Error() != "createThing (POST /thing) failed: EOF" {
			t.Errorf("%s: before the end: %v", name, err)
		}
		if _, err := c.Exchange(ctx, aWrite, OnlyJSON); !errors.Is(err, ctx.Err()) || !strings.HasSuffix(err.Error(), ctx.Err().Error()+" (EOF)") {
			t.Errorf("%s: after the end: %v", name, err)
		}
	}
}

func TestPastCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		longer, cancel := PastCancel(ctx)
		defer cancel()
		end()
		started := time.Now()
		<-longer.Done()
		check.Is(t, "the context ended after", time.Since(started), 15*time.Second)
	})
}

func TestExchange_aReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, start := range ending(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := start()
			c, rec, _ := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
				end()
				<-r.Context().Done()
			})
			_, err := c.Exchange(ctx, aRead, OnlyJSON)
			var transport *TransportError
			if !errors.As(err, &transport) || !errors.Is(err, ctx.Err()) || transport.Op.Changes() || rec.Count(http.MethodGet) != 1 {
				t.Errorf("got %#v after %d requests", err, rec.Count(http.MethodGet))
			}
			check.Is(t, "the time that ran out", transport.Timeout, map[string]string{"deadline": "timeouts"}[name])
		})
	}
}

func TestExchange_requestTimeoutBoundsAWrite(t *testing.T) {
	t.Parallel()
	for name, inBody := range map[string]bool{"before the answer": false, "within the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: clienttest.Key, MaxRetries: 3, RequestTimeout: time.Minute, Clock: clock.NewFake(clienttest.Start)})
				check.Must(t, err)
				service := &neverAnswers{begins: inBody}
				c.api.Transport = service
				_, err = c.Exchange(t.Context(), aWrite, OnlyJSON)
				var transport *TransportError
				if !errors.As(err, &transport) || transport.Timeout != "request_timeout" || transport.Unsent || !transport.Op.Changes() || !IsAmbiguous(err) || service.requests != 1 {
					t.Errorf("got %#v after %d requests", err, service.requests)
				}
			})
		})
	}
}

func TestExchange_contextEndsBetweenAttempts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault  func(http.ResponseWriter)
		unsent bool
	}{
		"after a refusal": {func(w http.ResponseWriter) { clienttest.RespondJSON(w, 429, `{"detail":"slow down"}`) }, true},
		"after a fault":   {func(w http.ResponseWriter) { clienttest.RespondJSON(w, 500, `{"detail":"no"}`) }, false},
		"after a drop":    {clienttest.Drop, false},
	} {
		for kind, start := range ending(t) {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				ctx, end := start()
				c, rec, clk := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.fault(w) })
				sleeping := endAtSleep{Clock: clk, end: end}
				c.retry.clock, c.limiter.clock = sleeping, sleeping
				_, err := c.Exchange(ctx, aChange, OnlyJSON)
				var transport *TransportError
				if !errors.As(err, &transport) || !errors.Is(err, ctx.Err()) || transport.Unsent != tc.unsent || IsAmbiguous(err) == tc.unsent || rec.Count(http.MethodPatch) != 1 {
					t.Errorf("got %#v after %d requests", err, rec.Count(http.MethodPatch))
				}
				check.Is(t, "the time that ran out", transport.Timeout, map[string]string{"deadline": "timeouts"}[kind])
			})
		}
	}
}

func TestExchange_whatNeverConnectedIsUnsent(t *testing.T) {
	t.Parallel()
	const never, always = 1, 4
	quiet := func(t *testing.T, configure func(*tls.Config)) string {
		t.Helper()
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = quietLog()
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		if configure != nil {
			configure(server.TLS)
		}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL
	}
	trusting := func(c *Conn) *http.Transport {
		transport, _ := c.api.Transport.(*http.Transport)
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // The test's own server.
		return transport
	}
	for name, tc := range map[string]struct {
		address func(t *testing.T) string
		prepare func(c *Conn)
		dials   int
	}{
		"refused": {func(t *testing.T) string {
			t.Helper()
			server := httptest.NewServer(nil)
			server.Close()
			return server.URL
		}, nil, always},
		"unknown certificate": {func(t *testing.T) string { t.Helper(); return quiet(t, nil) }, nil, never},
		"alert of the server": {func(t *testing.T) string {
			t.Helper()
			return quiet(t, func(config *tls.Config) {
				config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, errors.New("no") }
			})
		}, func(c *Conn) { trusting(c) }, never},
		"no answer to the dialer in its time": {func(t *testing.T) string { t.Helper(); return "https://127.0.0.1:1" }, func(c *Conn) {
			trusting(c).DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}
			}
		}, always},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := New(Config{BaseURL: tc.address(t), APIKey: clienttest.Key, MaxRetries: 3, Clock: clock.NewFake(time.Now())})
			check.Must(t, err)
			if tc.prepare != nil {
				tc.prepare(c)
			}
			transport, _ := c.api.Transport.(*http.Transport)
			var dials atomic.Int32
			dial := transport.DialContext
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return dial(ctx, network, address)
			}
			_, err = c.Exchange(t.Context(), aWrite, OnlyJSON)
			var failure *TransportError
			if !errors.As(err, &failure) || !failure.Unsent || !failure.Op.Changes() || IsAmbiguous(err) {
				t.Errorf("got %#v", err)
			}
			check.Is(t, "dials", int(dials.Load()), tc.dials)
			if failure != nil && failure.Timeout != "" {
				t.Errorf("the time that ran out is %q", failure.Timeout)
			}
		})
	}
}

func TestExchange_whatWasSentOverHTTP2IsAmbiguous(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	c, err := New(Config{BaseURL: server.URL, APIKey: clienttest.Key, MaxRetries: 3, Clock: clock.NewFake(time.Now())})
	check.Must(t, err)
	c.api.Transport = server.Client().Transport
	_, err = c.Exchange(t.Context(), aWrite, OnlyJSON)
	var failure *TransportError
	if !errors.As(err, &failure) || failure.Unsent {
		t.Errorf("got %#v", err)
	}
}

func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

// ending returns the two ways in which a caller's context ends during a request.
func ending(t *testing.T) map[string]func() (ctx context.Context, end func()) {
	t.Helper()
	return map[string]func() (context.Context, func()){
		"cancelled": func() (context.Context, func()) { return context.WithCancel(t.Context()) },
		"deadline": func() (context.Context, func()) {
			ctx := &deadlineContext{Context: t.Context(), done: make(chan struct{})}
			return ctx, func() { close(ctx.done) }
		},
	}
}

// deadlineContext ends when the test says so, as if its deadline had passed.
type deadlineContext struct {
	context.Context //nolint:containedctx // This is a context.

	done chan struct{}
}

func (c *deadlineContext) Deadline() (time.Time, bool) { return time.Now().Add(time.Hour), true }

func (c *deadlineContext) Done() <-chan struct{} { return c.done }

func (c *deadlineContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// endAtSleep is a clock that ends the context in every sleep.
type endAtSleep struct {
	clock.Clock

	end func()
}

func (c endAtSleep) Sleep(ctx context.Context, _ time.Duration) error {
	c.end()
	return ctx.Err()
}
