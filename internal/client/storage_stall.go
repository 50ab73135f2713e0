package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// stallError says that a transfer was given up because no byte of it had moved for too long.
type stallError struct {
	// act is "upload" or "download".
	act string
	// peer is who is at the other end, "file storage" or "service".
	peer string
	// moved and size are bytes of the body; size is negative where it is not known.
	moved, size int64
	// asked says that the request was sent as a whole, and nothing of the answer has come.
	asked    bool
	patience time.Duration
}

func (e *stallError) Error() string {
	progress := fmt.Sprintf("%d bytes", e.moved)
	if e.size >= 0 {
		progress = fmt.Sprintf("%d of %d bytes", e.moved, e.size)
	}
	what := "no byte moved for " + e.patience.String() + " after " + progress
	if e.asked {
		what = "no answer came for " + e.patience.String() + " after the request was sent"
	}
	return fmt.Sprintf("the %s at the %s stalled: %s; check the connection, or raise request_timeout in the provider block", e.act, e.peer, what)
}

// stallTransport ends a request when no byte of it or of its answer has moved for patience, however long it takes as a
// whole. It runs on the machine's clock, as all timeouts of connections do.
type stallTransport struct {
	base     http.RoundTripper
	patience time.Duration
	peer     string
}

func (s *stallTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, end := context.WithCancel(req.Context())
	t := &transfer{act: "download", peer: s.peer, patience: s.patience, end: end}
	t.size.Store(-1)
	if req.Body != nil {
		t.act = "upload"
		t.size.Store(req.ContentLength)
	}
	t.timer = time.AfterFunc(t.patience, t.giveUp)
	watched := req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
		t.asked.Store(true)
		t.watch()
	}}))
	if req.Body != nil {
		watched.Body = &outgoing{req.Body, t}
	}
	resp, err := s.base.RoundTrip(watched)
	t.pause()
	if err != nil {
		end()
		return nil, t.reason(err)
	}
	t.asked.Store(false)
	if t.act == "download" {
		t.size.Store(resp.ContentLength)
	}
	resp.Body = &incoming{resp.Body, t}
	if _, err := url.Parse(resp.Header.Get("Location")); err != nil {
		// It may be signed, and net/http would quote it in an error.
		resp.Header.Del("Location")
	}
	return resp, nil
}

// transfer is one request under way. It is watched while the network has to do something, and paused while this machine has.
type transfer struct {
	act, peer   string
	patience    time.Duration
	timer       *time.Timer
	moved, size atomic.Int64
	asked       atomic.Bool
	stall       atomic.Pointer[stallError]
	end         context.CancelFunc
}

func (t *transfer) watch() { t.timer.Reset(t.patience) }
func (t *transfer) pause() { t.timer.Stop() }

func (t *transfer) giveUp() {
	t.stall.Store(&stallError{act: t.act, peer: t.peer, moved: t.moved.Load(), size: t.size.Load(), asked: t.asked.Load(), patience: t.patience})
	t.end()
}

// reason returns why a transfer failed, which the error of a transfer that was given up does not say.
func (t *transfer) reason(err error) error {
	if stall := t.stall.Load(); stall != nil {
		return stall
	}
	return err
}

// outgoing is the body of a request.
type outgoing struct {
	io.ReadCloser
	transfer *transfer
}

func (o *outgoing) Read(p []byte) (int, error) {
	o.transfer.pause()
	defer o.transfer.watch()
	n, err := o.ReadCloser.Read(p)
	o.transfer.moved.Add(int64(n))
	return n, err
}

// incoming is the body of an answer.
type incoming struct {
	io.ReadCloser
	transfer *transfer
}

func (i *incoming) Read(p []byte) (int, error) {
	i.transfer.watch()
	n, err := i.ReadCloser.Read(p)
	i.transfer.pause()
	if i.transfer.act == "download" {
		i.transfer.moved.Add(int64(n))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = i.transfer.reason(err)
	}
	return n, err
}

func (i *incoming) Close() error {
	i.transfer.pause()
	defer i.transfer.end()
	return i.ReadCloser.Close()
}
