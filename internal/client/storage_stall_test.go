package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const patience = 10 * time.Second

// pipeStorage returns a client whose file storage is at the other end of a pipe, and counts its connections, which
// take the time of dial to be made. In a synctest bubble no byte moves that nobody reads, and time passes only while
// everybody waits.
func pipeStorage(t *testing.T, dial time.Duration, handle func(conn peer, r *http.Request)) (*Client, *atomic.Int32) {
	t.Helper()
	c, err := New(Config{BaseURL: "https://api.example", APIKey: testKey, RequestTimeout: patience, MaxRetries: 1})
	if err != nil {
		t.Fatal(err)
	}
	var dials atomic.Int32
	c.storage = storageClient(patience)
	c.storage.Transport.(*stallTransport).base = &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			pauseFor(dial)
			client, server := net.Pipe()
			gone := make(chan struct{})
			go func() {
				defer func() { _ = server.Close() }()
				r, err := http.ReadRequest(bufio.NewReader(server))
				if err != nil {
					return
				}
				handle(peer{server, gone}, r)
			}()
			return closeNoting{client, sync.OnceFunc(func() { close(gone) })}, nil
		},
	}
	return c, &dials
}

// peer is the storage's end of a connection.
type peer struct {
	net.Conn
	gone chan struct{}
}

// hang does nothing until the client has closed the connection.
func (p peer) hang() { <-p.gone }

// closeNoting is the client's end.
type closeNoting struct {
	net.Conn
	closed func()
}

func (c closeNoting) Close() error {
	c.closed()
	return c.Conn.Close()
}

func pauseFor(d time.Duration) { <-time.After(d) } // It takes no real time in a bubble.

func zeros(size int64) FileContent {
	return FileContent{Size: size, Open: func() (io.ReadCloser, error) { return io.NopCloser(io.LimitReader(endless{}, size)), nil }}
}

func TestUpload_endsWhenItStalls(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	for name, tc := range map[string]struct {
		handle func(conn peer, r *http.Request)
		read   int64
		want   string
		took   time.Duration // Of one attempt.
	}{
		"nothing is read": {
			func(conn peer, _ *http.Request) { conn.hang() },
			0, "the upload at the file storage stalled: no byte moved for 10s after ", patience,
		},
		"reading stops": {
			func(conn peer, r *http.Request) {
				_, _ = io.CopyN(io.Discard, r.Body, size/2)
				conn.hang()
			},
			size / 2, "the upload at the file storage stalled: no byte moved for 10s after ", patience,
		},
		"reading is slow, then stops": {
			func(conn peer, r *http.Request) {
				for range 8 {
					_, _ = io.CopyN(io.Discard, r.Body, size/16)
					pauseFor(patience - time.Second)
				}
				conn.hang()
			},
			size / 2, "the upload at the file storage stalled: no byte moved for 10s after ", 8*(patience-time.Second) + time.Second,
		},
		"no answer comes": {
			func(conn peer, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				conn.hang()
			},
			size, "the upload at the file storage stalled: no answer came for 10s after the request was sent", patience,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, dials := pipeStorage(t, 0, tc.handle)
				c.retry.clock = clock.NewFake(time.Now())
				start := time.Now()
				err := c.Upload(t.Context(), &FileUpload{url: "http://127.0.0.1/put?sig=s3cret"}, "a", zeros(size), nil)
				var failure *StorageError
				if !errors.As(err, &failure) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "raise request_timeout") || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("the error is %v", err)
				}
				var stall *stallError
				const buffers = 128 << 10 // Read from the file, but not yet by the peer; the form is in here too.
				if errors.As(err, &stall) && (stall.moved < tc.read || stall.moved > tc.read+buffers || stall.size <= size) {
					t.Errorf("%d of %d bytes moved, want %d", stall.moved, stall.size, tc.read)
				}
				if dials.Load() != 2 {
					t.Errorf("%d attempts, want 2", dials.Load())
				}
				if took := time.Since(start); took != 2*tc.took {
					t.Errorf("two attempts took %v, want %v", took, 2*tc.took)
				}
				synctest.Wait()
			})
		})
	}
}

// Each pause is shorter than the timeout, and all together are far longer.
func TestUpload_goesOnAsLongAsBytesMove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		c, dials := pipeStorage(t, 0, func(conn peer, r *http.Request) {
			for range 16 {
				pauseFor(patience - time.Second)
				_, _ = io.CopyN(io.Discard, r.Body, size/16)
			}
			pauseFor(patience - time.Second)
			_, _ = io.Copy(io.Discard, r.Body)
			pauseFor(patience - time.Second)
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		})
		start := time.Now()
		if err := c.Upload(t.Context(), &FileUpload{url: "http://127.0.0.1/put"}, "a", zeros(size), nil); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); dials.Load() != 1 || took < 10*patience {
			t.Errorf("%d attempts, which took %v", dials.Load(), took)
		}
		synctest.Wait()
	})
}

func TestDownload_endsWhenItStalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header string
		sent   int // Bytes, each after a pause.
		stalls bool
		want   string
	}{
		"goes on as long as bytes move": {"Content-Length: 20", 20, false, ""},
		"stops":                         {"Content-Length: 20", 7, true, "the download at the file storage stalled: no byte moved for 10s after 7 of 20 bytes"},
		"stops, and the length is open": {"Connection: close", 7, true, "the download at the file storage stalled: no byte moved for 10s after 7 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := pipeStorage(t, patience-time.Second, func(conn peer, _ *http.Request) {
					pauseFor(patience - time.Second)
					_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%s\r\n\r\n", tc.header)
					for range tc.sent {
						pauseFor(patience - time.Second)
						_, _ = io.WriteString(conn, "x")
					}
					if tc.stalls {
						conn.hang()
					}
				})
				stored, err := c.openDownload(t.Context(), "http://127.0.0.1/get")
				if err != nil {
					t.Fatal(err)
				}
				pauseFor(2 * patience) // What this machine takes is not the network's fault.
				_, _ = io.CopyN(io.Discard, stored, 1)
				pauseFor(2 * patience)
				same, err := sameBytes(strings.NewReader(strings.Repeat("x", 19)), stored)
				if same == tc.stalls || (err != nil) != tc.stalls || tc.stalls && !strings.Contains(err.Error(), tc.want) {
					t.Errorf("same is %v, the error is %v", same, err)
				}
				_ = stored.Close()
				synctest.Wait()
			})
		})
	}
}

func TestStallTransport_leavesOtherErrorsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, dials := pipeStorage(t, 0, func(conn peer, _ *http.Request) { conn.hang() })
		ctx, cancel := context.WithTimeout(t.Context(), patience/2)
		defer cancel()
		err := c.Upload(ctx, &FileUpload{url: "http://127.0.0.1/put"}, "a", zeros(1<<20), nil)
		if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "stalled") || dials.Load() != 1 {
			t.Errorf("%d attempts, error %v", dials.Load(), err)
		}
		synctest.Wait()
	})
}

// Before there is an answer nobody knows how long the file is.
func TestDownload_endsWhenNothingConnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipeStorage(t, 2*patience, func(conn peer, _ *http.Request) { conn.hang() })
		_, err := c.openDownload(t.Context(), "http://127.0.0.1/get")
		if err == nil || !strings.Contains(err.Error(), "no byte moved for 10s after 0 bytes;") {
			t.Errorf("the error is %v", err)
		}
		pauseFor(2 * patience) // The dialer goes on.
		synctest.Wait()
	})
}

func TestStallError_tellsHowFarItWas(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]stallError{
		"no byte moved for 10s after 7 of 20 bytes":          {moved: 7, size: 20},
		"no byte moved for 10s after 0 of 0 bytes":           {},
		"no byte moved for 10s after 7 bytes;":               {moved: 7, size: -1},
		"no answer came for 10s after the request was sent;": {moved: 7, size: 7, asked: true},
	} {
		err.act, err.peer, err.patience = "upload", "file storage", patience
		if got := err.Error(); !strings.Contains(got, "the upload at the file storage stalled: "+want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
