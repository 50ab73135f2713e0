package client

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

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

var (
	aRead   = request{op: operation{name: "getThing", method: http.MethodGet, route: "/thing"}}
	aWrite  = request{op: operation{name: "createThing", method: http.MethodPost, route: "/thing"}}
	aChange = request{op: operation{name: "updateThing", method: http.MethodPatch, route: "/thing"}}
)

func TestExchange_aWriteInFlightRunsToItsAnswer(t *testing.T) {
	t.Parallel()
	for name, start := range ending(t) {
		for _, r := range []request{aWrite, aChange} {
			t.Run(name+" "+r.op.method, func(t *testing.T) {
				t.Parallel()
				ctx, end := start()
				c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
					end()
					answerJSON(w, 201, `{"id":"t1"}`)
				})
				if got, err := c.exchange(ctx, r, wantJSON); err != nil || got.status != 201 || string(got.body) != `{"id":"t1"}` {
					t.Errorf("got %+v, %v, want the answer", got, err)
				}
				if _, err := c.exchange(ctx, r, wantJSON); !errors.Is(err, ctx.Err()) || isAmbiguous(err) || rec.count(r.op.method) != 1 {
					t.Errorf("after the end of the context: %v, %d requests", err, rec.count(r.op.method))
				}
			})
		}
	}
}

func TestExchange_nothingIsRepeatedAfterTheContext(t *testing.T) {
	t.Parallel()
	for name, start := range ending(t) {
		for fault, status := range map[string]int{"fault": 503, "refusal": 429} {
			t.Run(name+" "+fault, func(t *testing.T) {
				t.Parallel()
				ctx, end := start()
				c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
					end()
					answerJSON(w, status, `{"detail":"no"}`)
				})
				_, err := c.exchange(ctx, aChange, wantJSON)
				if StatusOf(err) != status || rec.count(http.MethodPatch) != 1 || isAmbiguous(err) != (status == 503) {
					t.Errorf("got %v after %d requests", err, rec.count(http.MethodPatch))
				}
			})
		}
	}
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
			_, err := c.exchange(ctx, aRead, wantJSON)
			var transport *TransportError
			if !errors.As(err, &transport) || !errors.Is(err, ctx.Err()) || transport.Changes || rec.count(http.MethodGet) != 1 {
				t.Errorf("got %#v after %d requests", err, rec.count(http.MethodGet))
			}
			if want := map[string]string{"deadline": "timeouts"}[name]; transport.Timeout != want {
				t.Errorf("the time that ran out is %q, want %q", transport.Timeout, want)
			}
		})
	}
}

func TestExchange_requestTimeoutBoundsAWrite(t *testing.T) {
	t.Parallel()
	for name, inBody := range map[string]bool{"before the answer": false, "within the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: testKey, MaxRetries: 3, RequestTimeout: time.Minute, Clock: clock.NewFake(testStart)})
				if err != nil {
					t.Fatal(err)
				}
				service := &neverAnswers{begins: inBody}
				c.api.HTTPClient.Transport = service
				_, err = c.exchange(t.Context(), aWrite, wantJSON)
				var transport *TransportError
				if !errors.As(err, &transport) || transport.Timeout != "request_timeout" || transport.Unsent || !transport.Changes || !isAmbiguous(err) || service.requests != 1 {
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
		answer string // The last answer, as the error tells it.
	}{
		"after a refusal": {func(w http.ResponseWriter) { answerJSON(w, 429, `{"detail":"slow down"}`) }, true, ""},
		"after a fault":   {func(w http.ResponseWriter) { answerJSON(w, 500, `{"detail":"no"}`) }, false, ", after an answer 500"},
		"after a drop":    {drop, false, ""},
	} {
		for kind, start := range ending(t) {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				ctx, end := start()
				c, rec, clk := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.fault(w) })
				sleeping := endAtSleep{clk, end}
				c.retry.clock, c.gate.clock = sleeping, sleeping
				_, err := c.exchange(ctx, aChange, wantJSON)
				var transport *TransportError
				if !errors.As(err, &transport) || !errors.Is(err, ctx.Err()) || transport.Unsent != tc.unsent || isAmbiguous(err) == tc.unsent || rec.count(http.MethodPatch) != 1 {
					t.Errorf("got %#v after %d requests", err, rec.count(http.MethodPatch))
				}
				if _, answer, _ := strings.Cut(err.Error(), ctx.Err().Error()); answer != tc.answer {
					t.Errorf("%v tells of the answer %q, want %q", err, answer, tc.answer)
				}
				if want := map[string]string{"deadline": "timeouts"}[kind]; transport.Timeout != want {
					t.Errorf("the time that ran out is %q, want %q", transport.Timeout, want)
				}
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
	trusting := func(c *Client) *http.Transport {
		transport, _ := c.api.HTTPClient.Transport.(*http.Transport)
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // The test's own server.
		return transport
	}
	for name, tc := range map[string]struct {
		address func(t *testing.T) string
		prepare func(c *Client)
		dials   int
	}{
		"refused": {func(t *testing.T) string {
			t.Helper()
			server := httptest.NewServer(nil)
			server.Close()
			return server.URL
		}, nil, always},
		"unknown certificate": {func(t *testing.T) string { t.Helper(); return quiet(t, nil) }, nil, never},
		"no TLS at all": {func(t *testing.T) string {
			t.Helper()
			server := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			return strings.Replace(server.URL, "http:", "https:", 1)
		}, nil, never},
		"alert of the server": {func(t *testing.T) string {
			t.Helper()
			return quiet(t, func(config *tls.Config) {
				config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, errors.New("no") }
			})
		}, func(c *Client) { trusting(c) }, never},
		"handshake timeout": {func(t *testing.T) string { t.Helper(); return silent(t) },
			func(c *Client) { trusting(c).TLSHandshakeTimeout = 20 * time.Millisecond }, always},
		"no answer to the dialer in its time": {func(t *testing.T) string { t.Helper(); return "https://127.0.0.1:1" }, func(c *Client) {
			trusting(c).DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}
			}
		}, always},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := New(Config{BaseURL: tc.address(t), APIKey: testKey, MaxRetries: 3, Clock: clock.NewFake(time.Now())})
			if err != nil {
				t.Fatal(err)
			}
			if tc.prepare != nil {
				tc.prepare(c)
			}
			transport, _ := c.api.HTTPClient.Transport.(*http.Transport)
			var dials atomic.Int32
			dial := transport.DialContext
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return dial(ctx, network, address)
			}
			_, err = c.exchange(t.Context(), aWrite, wantJSON)
			var failure *TransportError
			if !errors.As(err, &failure) || !failure.Unsent || !failure.Changes || isAmbiguous(err) {
				t.Errorf("got %#v", err)
			}
			if int(dials.Load()) != tc.dials {
				t.Errorf("tried %d times, want %d", dials.Load(), tc.dials)
			}
			if failure != nil && failure.Timeout != "" {
				t.Errorf("the time that ran out is %q", failure.Timeout)
			}
		})
	}
}

// In a bubble the time runs out when nothing else is left to do, however busy the machine is.
func TestExchange_requestTimeoutWithinTheHandshakeIsUnsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: testKey, MaxRetries: 3, RequestTimeout: time.Minute, Clock: clock.NewFake(time.Now())})
		if err != nil {
			t.Fatal(err)
		}
		var dials atomic.Int32
		transport, _ := c.api.HTTPClient.Transport.(*http.Transport)
		transport.TLSHandshakeTimeout = time.Hour
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			return ours, nil
		}
		_, err = c.exchange(t.Context(), aWrite, wantJSON)
		var failure *TransportError
		if !errors.As(err, &failure) || !failure.Unsent || failure.Timeout != "request_timeout" || dials.Load() != 4 {
			t.Errorf("tried %d times: %#v", dials.Load(), err)
		}
		synctest.Wait()
	})
}

func TestExchange_whatWasSentOverHTTP2IsAmbiguous(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	c, err := New(Config{BaseURL: server.URL, APIKey: testKey, MaxRetries: 3, Clock: clock.NewFake(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	c.api.HTTPClient.Transport = server.Client().Transport
	_, err = c.exchange(t.Context(), aWrite, wantJSON)
	var failure *TransportError
	if !errors.As(err, &failure) || failure.Unsent {
		t.Errorf("got %#v", err)
	}
}

// silent accepts connections and never says anything.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It ends with the test.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return "https://" + listener.Addr().String()
}

func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }
