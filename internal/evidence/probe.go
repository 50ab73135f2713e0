package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// MaxProbes is the number of requests that a probe sends at most.
const MaxProbes = 60

// pace is how many requests a probe sends in a second.
const pace = 2

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
	resp, err := p.Recorder.Transport(http.DefaultTransport).RoundTrip(req)
	said := "no answer"
	if err != nil {
		p.failed++
	} else {
		said = strconv.Itoa(resp.StatusCode)
	}
	_, _ = fmt.Fprintf(p.Progress, "%2d %s: %s\n", p.sent, operation, said) // Progress that cannot be shown stops nothing.
	return resp, err
}

// get sends a request and returns the answer if it is JSON.
func (p *Probe) get(ctx context.Context, route string, query url.Values, ids ...string) (answer any) {
	got, err := p.conn.Exchange(ctx, transport.Request{Op: transport.Operation{Name: "probe", Method: http.MethodGet, Route: route}, Path: ids, Query: query}, transport.AnyBody)
	switch status := transport.StatusOf(err); {
	case err == nil:
		_ = json.Unmarshal(got.Body, &answer) // The recorder has noted what is no JSON.
	case p.end != nil: // The number of requests.
	case ctx.Err() != nil:
		p.end = errors.New("interrupted")
	case status == http.StatusTooManyRequests || errors.Is(err, transport.ErrHeldBack):
		p.end = errors.New("the rate limit of the service lets no more requests pass; run the probe again later")
	case status == http.StatusUnauthorized && p.sent == 1:
		p.end = errors.New("the service refuses the API key (status 401)")
	case status == 0 && (p.failed == p.sent || p.failed == 3):
		p.end = fmt.Errorf("the service does not answer: %w", err)
	}
	return answer
}
