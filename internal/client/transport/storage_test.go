package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const idleTime = 10 * time.Second

// pipeConn is the server's end of a connection.
type pipeConn struct {
	net.Conn
	closed chan struct{}
}

// hang waits until the client closes the connection.
func (p pipeConn) hang() { <-p.closed }

// closeNoting is the client's end of a connection.
type closeNoting struct {
	net.Conn
	onClose func()
}

func (c closeNoting) Close() error {
	c.onClose()
	return c.Conn.Close()
}

// pipeClient returns a client whose transfers all go to a handler at the other end of a pipe. It runs inside a synctest
// bubble.
func pipeClient(t *testing.T, handle func(conn pipeConn, r *http.Request)) *Conn {
	t.Helper()
	c, err := New(Config{BaseURL: "http://127.0.0.1", APIKey: clienttest.Key, RequestTimeout: idleTime, Clock: clock.NewFake(time.Now())})
	check.Must(t, err)
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: idleLimited(func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			closed := make(chan struct{})
			go func() {
				defer func() { _ = server.Close() }()
				r, err := http.ReadRequest(bufio.NewReader(server))
				if err != nil {
					return
				}
				handle(pipeConn{server, closed}, r)
			}()
			return closeNoting{client, sync.OnceFunc(func() { close(closed) })}, nil
		}, idleTime),
	}
	c.transfers.Transport = transport
	return c
}

func pauseFor(d time.Duration) { <-time.After(d) } // It takes no real time in a synctest bubble.

func TestUpload_idleTime(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	moves := func(parts int) func(pipeConn, *http.Request) {
		return func(_ pipeConn, r *http.Request) {
			for range parts {
				_, _ = io.CopyN(io.Discard, r.Body, size/16)
				pauseFor(idleTime - time.Second)
			}
		}
	}
	for name, tc := range map[string]struct {
		handle func(conn pipeConn, r *http.Request)
		stalls bool
	}{
		"slow, but it moves": {func(conn pipeConn, r *http.Request) {
			moves(16)(conn, r)
			_, _ = io.Copy(io.Discard, r.Body)
			pauseFor(idleTime - time.Second)
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		}, false},
		"nothing is read": {func(conn pipeConn, _ *http.Request) { conn.hang() }, true},
		"reading stops": {func(conn pipeConn, r *http.Request) {
			moves(8)(conn, r)
			conn.hang()
		}, true},
		"no response": {func(conn pipeConn, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn.hang()
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const address = "http://127.0.0.1/put?sig=s3cret"
				_, err := pipeClient(t, tc.handle).SendToStorage(t.Context(), "upload", address, func(ctx context.Context) (*http.Request, error) {
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, io.LimitReader(clienttest.Endless{}, size+size/16))
					if err == nil {
						req.ContentLength = size + size/16
					}
					return req, err
				})
				var failure *StorageError
				if errors.As(err, &failure) != tc.stalls {
					t.Errorf("got %v", err)
				} else if tc.stalls {
					check.Fails(t, err, "the transfer stalled: no data moved for 10s; check the connection, or raise request_timeout in the provider block")
				}
				synctest.Wait()
			})
		})
	}
}

// Connecting is limited by the timeout too.
func TestIdleLimited_dial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dial := idleLimited(func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, idleTime)
		start := time.Now()
		if _, err := dial(t.Context(), "tcp", "127.0.0.1:1"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != idleTime {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestDownload_isRepeated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status                 int
		header, body, wantText string
		requests               int
	}{
		"500":              {500, "", "", "the file storage returned 500 for the download", 4},
		"503":              {503, "", "", "the file storage returned 503 for the download", 4},
		"dropped":          {0, "", "", "the file download failed: EOF", 4},
		"403 JSON":         {403, "", `{"detail":"The form has expired.","message":"no"}`, "the file storage returned 403 for the download: The form has expired.", 1},
		"403 JSON message": {403, "", `{"message":"No such file."}`, "the file storage returned 403 for the download: No such file.", 1},
		"403 XML": {403, "", `<Error><Code>X</Code><Message>Signature wrong.</Message><StringToSign>s3cret</StringToSign></Error>`,
			"the file storage returned 403 for the download: Signature wrong.", 1},
		"300":                 {300, "", "", "the file storage returned 300 for the download", 1},
		"redirect":            {307, "http://elsewhere.example/?sig=s3cret", "", "the file storage returned 307 for the download", 1},
		"redirect to nowhere": {307, "http://[s3cret", "", "the file storage returned 307 for the download", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault := func(w http.ResponseWriter) {
				if tc.status == 0 {
					clienttest.Drop(w)
				}
				w.Header().Set("Location", tc.header)
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}
			c, _, clk := serve(t, nil)
			always, sent := clienttest.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fault(w) })
			_, err := c.OpenDownload(t.Context(), always+"/get?sig=s3cret")
			var failure *StorageError
			if !errors.As(err, &failure) || err.Error() != tc.wantText {
				t.Errorf("the error is %v", err)
			}
			if len(sent.Requests) != tc.requests || len(clk.Sleeps()) != tc.requests-1 {
				t.Errorf("%d requests with %d pauses, want %d requests", len(sent.Requests), len(clk.Sleeps()), tc.requests)
			}
			if tc.requests == 1 {
				return
			}
			once, _ := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
				if n == 1 {
					fault(w)
					return
				}
				clienttest.NoContent(w, r, n)
			})
			stored, err := c.OpenDownload(t.Context(), once)
			if err != nil {
				t.Fatalf("a fault that passes: %v", err)
			}
			_ = stored.Close()
		})
	}
}

func TestDownload_onlyOverHTTPS(t *testing.T) {
	t.Parallel()
	c, _, _ := serve(t, nil)
	for address, want := range map[string]string{
		"http://files.example/get?sig=s3cret": "the file download failed: the service returned a signed URL with plain http to files.example; set allow_insecure_http = true in the provider block if you trust the network",
		"ftp://files.example/get":             "the file download failed: the service returned a signed URL that is not an http or https URL",
		"://":                                 "the file download failed: the service returned a signed URL that is not an http or https URL",
		"/get":                                "the file download failed: the service returned a signed URL that is not an http or https URL",
	} {
		if _, err := c.OpenDownload(t.Context(), address); err == nil || err.Error() != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	check.Must(t, c.checkSignedURL("https://files.example/get"))
	check.Must(t, c.checkSignedURL("http://127.0.0.1/get"))
	c.allowInsecureHTTP = true
	check.Must(t, c.checkSignedURL("http://files.example/get"))
}

func TestNewTransferClient(t *testing.T) {
	t.Parallel()
	transport := newTransferClient(idleTime).Transport.(signedLocations).RoundTripper.(*http.Transport)
	server, _ := clienttest.Serve(t, clienttest.NoContent)
	at, err := url.Parse(server)
	check.Must(t, err)
	conn, err := transport.DialContext(t.Context(), "tcp", at.Host)
	check.Must(t, err)
	defer func() { _ = conn.Close() }()
	if idle, ok := conn.(*idleConn); !ok || idle.timeout != idleTime || transport.ForceAttemptHTTP2 {
		t.Errorf("the connection is a %T, HTTP/2 %v", conn, transport.ForceAttemptHTTP2)
	}
}

// A long response of the service continues as long as data is transferred.
func TestStream_idleTime(t *testing.T) {
	t.Parallel()
	const parts = 16
	for _, stalls := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := pipeClient(t, func(conn pipeConn, _ *http.Request) {
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", parts)
				for i := range parts {
					if stalls && i == parts/2 {
						conn.hang()
						return
					}
					pauseFor(idleTime - time.Second)
					_, _ = io.WriteString(conn, "x")
				}
			})
			resp, err := c.Stream(t.Context(), aRead, func(*http.Response) ([]byte, error) { return nil, nil })
			check.Must(t, err)
			data, err := io.ReadAll(resp.Body)
			if (err != nil) != stalls || stalls && !strings.Contains(err.Error(), "the transfer stalled: no data moved for 10s") || !stalls && len(data) != parts {
				t.Errorf("got %q, %v", data, err)
			}
			_ = resp.Body.Close()
			synctest.Wait()
		})
	}
}

// No document names the fields of a signed URL, so the likely names are read.
func TestCallSigned(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"url":"https://f.example/u","fields":{"key":"k"},"expiresAt":1772323200000}`:                    "https://f.example/u map[key:k] 2026-03-01",
		`{"uploadUrl":"https://f.example/u","formFields":{"key":"k"},"expiresAt":"2026-03-01T00:00:00Z"}`: "https://f.example/u map[key:k] 2026-03-01",
		`{"downloadUrl":"https://f.example/d"}`:                                                           "https://f.example/d map[] 0001-01-01",
		`{"fields":{"key":"k"}}`:                                                                          "createThing (POST /thing) failed: unexpected response: it has no signed URL",
		`{"url":7}`:                                                                                       "createThing (POST /thing) failed: unexpected response: the field url has the wrong type, number",
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 200, answer) })
		got := ""
		if signed, err := c.CallSigned(t.Context(), aWrite); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(signed.URL, " ", signed.Fields, " ", signed.ExpiresAt.Format(time.DateOnly))
		}
		check.Is(t, answer, got, want)
	}
}
