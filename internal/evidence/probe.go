package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// MaxProbes is the number of requests that a probe sends at most.
const MaxProbes = 60

const (
	// pace is how many requests a probe sends in a second.
	pace = 2
	// patience is how long a probe takes at most, with the pauses that the service asks for.
	patience = 20 * time.Minute
	// maxBody is how much of an answer is read, in bytes. A list of 10,000 objects has a fifth of it.
	maxBody = 32 << 20
)

// Probe reads what a key can read, one request after the other. It only sends GETs.
type Probe struct {
	Base      *url.URL
	Key       string
	UserAgent string
	Recorder  *Recorder
	Clock     clock.Clock
	// Progress gets a line for each request.
	Progress io.Writer

	conn   *transport.Conn
	sent   int
	failed int   // Requests without an answer.
	end    error // Why nothing more is sent.
}

// Run sends the requests. An error says why it ended early; the recorder has what was seen until then.
func (p *Probe) Run(ctx context.Context) error {
	conn, err := transport.New(transport.Config{
		BaseURL: p.Base.String(), APIKey: p.Key, UserAgent: p.UserAgent, Clock: p.Clock, AllowInsecureHTTP: true, // The caller decides on that.
		Transport: attempt{p}, RequestsPerSecond: pace, RequestTimeout: 2 * time.Minute, // A first list of sessions may be slow.
	})
	if err != nil {
		return err
	}
	p.conn = conn
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p.readAll(ctx)
	return p.end
}

// attempt sends one request, if the probe may send more.
type attempt struct{ *Probe }

// RoundTrip implements http.RoundTripper.
func (p attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.sent == MaxProbes {
		p.end = fmt.Errorf("%d requests were sent, which is the limit", MaxProbes)
		return nil, p.end
	}
	p.sent++
	operation, _ := p.Recorder.doc.Match(api(req))
	resp, err := p.Recorder.Transport(limited{http.DefaultTransport}).RoundTrip(req)
	if err != nil {
		p.failed++
		p.note("%2d %s: no answer", p.sent, operation)
		return nil, err
	}
	p.note("%2d %s: %d", p.sent, operation, resp.StatusCode)
	return resp, nil
}

// limited ends bodies that are too large, or that never end.
type limited struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxBody)
	}
	return resp, err
}

// get sends a request and returns the object that was answered, or nil.
func (p *Probe) get(ctx context.Context, path string, query ...string) Object {
	if p.end != nil {
		return nil
	}
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	got, err := p.conn.Exchange(ctx, transport.Request{Op: transport.Operation{Name: "probe", Method: http.MethodGet, Route: path}, Query: values}, transport.AnyBody)
	switch status := transport.StatusOf(err); {
	case err == nil:
		var answer any
		_ = json.Unmarshal(got.Body, &answer) // The recorder has noted what is no JSON.
		return RecordOf(answer)
	case p.end != nil: // The number of requests.
	case errors.Is(ctx.Err(), context.Canceled):
		p.end = errors.New("interrupted")
	case status == http.StatusTooManyRequests || errors.Is(err, transport.ErrHeldBack):
		p.end = errors.New("the rate limit of the service lets no more requests pass; run the probe again later")
	case ctx.Err() != nil:
		p.end = fmt.Errorf("it took %v, which is the limit", patience)
	case status == http.StatusUnauthorized && p.sent == 1:
		p.end = errors.New("the service refuses the API key (status 401)")
	case status == 0 && (p.failed == p.sent || p.failed == 3):
		p.end = fmt.Errorf("the service does not answer: %w", err)
	}
	return nil
}

func (p *Probe) note(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Progress, format+"\n", args...) // Progress that cannot be shown stops nothing.
}

// need reports whether an earlier answer had a value. Without it, the operations are noted as skipped.
func (p *Probe) need(value, what string, operations ...string) bool {
	if value == "" && p.end == nil {
		for _, operation := range operations {
			p.Recorder.Skip(operation, "", "The answers show no "+what+".")
		}
	}
	return value != ""
}

// first returns the first object of a list that suits.
func (o Object) first(list string, suits func(Object) bool) Object {
	for _, element := range o.List(list) {
		if suits(element) {
			return element
		}
	}
	return nil
}

func anyOne(Object) bool { return true }

// segment is a value as one segment of a path.
func segment(value string) string { return "/" + url.PathEscape(value) }
