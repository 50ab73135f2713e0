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

const (
	// pace is the time between two requests of a probe.
	pace = 500 * time.Millisecond
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

	client *http.Client
	until  time.Time
	sent   int
	failed int   // Requests without an answer.
	end    error // Why nothing more is sent.
}

// Run sends the requests. An error says why it ended early; the recorder has what was seen until then.
func (p *Probe) Run(ctx context.Context) error {
	p.client = &http.Client{
		Transport:     p.Recorder.Transport(limited{http.DefaultTransport}),
		Timeout:       2 * time.Minute, // A first list of sessions may be slow.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p.until = p.Clock.Now().Add(patience)
	p.readAll(ctx)
	return p.end
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

// get sends a request and returns the object that was answered, or nil. It waits if the service asks for that.
func (p *Probe) get(ctx context.Context, path string, query ...string) fields {
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	for try := range 3 {
		if p.sent == MaxProbes && p.end == nil {
			p.end = fmt.Errorf("%d requests were sent, which is the limit", MaxProbes)
		}
		if p.end == nil && !p.Clock.Now().Before(p.until) {
			p.end = fmt.Errorf("it took %v, which is the limit", patience)
		}
		if p.end != nil {
			return nil
		}
		pause, answer := p.send(ctx, path, values)
		if p.Clock.Now().Add(pause).After(p.until) {
			p.end = fmt.Errorf("the service asks for a pause of %v; run the probe again later", pause)
			return nil
		}
		if pause == 0 || try == 2 {
			return answer
		}
		p.note("  waiting %v, as the service asks", pause)
		if err := p.Clock.Sleep(ctx, pause); err != nil {
			p.end = errors.New("interrupted")
		}
	}
	return nil
}

// send sends one request. It returns the pause that the service asks for, and the object that it answered with.
func (p *Probe) send(ctx context.Context, path string, values url.Values) (time.Duration, fields) {
	address := p.Base.String() + path
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		p.end = err
		return 0, nil
	}
	req.Header.Set("Authorization", "Bearer "+p.Key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", p.UserAgent)
	if p.sent > 0 && p.Clock.Sleep(ctx, pace) != nil {
		p.end = errors.New("interrupted")
		return 0, nil
	}
	p.sent++
	operation, _ := p.Recorder.doc.Match(api(req))
	resp, err := p.client.Do(req)
	if err != nil {
		p.failed++
		p.note("%2d %s: no answer", p.sent, operation)
		switch {
		case ctx.Err() != nil:
			p.end = errors.New("interrupted")
		case p.sent == p.failed || p.failed == 3:
			p.end = fmt.Errorf("the service does not answer: %w", transport.WithoutURL(err))
		}
		return 0, nil
	}
	defer func() { _ = resp.Body.Close() }()
	p.note("%2d %s: %d", p.sent, operation, resp.StatusCode)
	switch {
	case resp.StatusCode == http.StatusUnauthorized && p.sent == 1:
		p.end = errors.New("the service refuses the API key (status 401)")
	case resp.StatusCode == http.StatusTooManyRequests:
		return pauseOf(resp.Header.Get("Retry-After"), p.Clock.Now()), nil
	case resp.StatusCode == http.StatusOK:
		decoder := json.NewDecoder(resp.Body)
		decoder.UseNumber()
		var answer fields
		if decoder.Decode(&answer) == nil { // Otherwise, the recorder has noted it.
			return 0, answer
		}
	}
	return 0, nil
}

// pauseOf reads Retry-After, which is a number of seconds or a time.
func pauseOf(retryAfter string, now time.Time) time.Duration {
	const least = time.Second
	if seconds, err := strconv.Atoi(retryAfter); err == nil {
		return max(least, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(retryAfter); err == nil {
		return max(least, at.Sub(now))
	}
	return 5 * time.Second
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

// fields is an object of an answer.
type fields map[string]any

func (f fields) text(name string) string {
	text, _ := f[name].(string)
	return text
}

// object returns an object inside of another one.
func (f fields) object(name string) fields {
	inner, _ := f[name].(map[string]any)
	return inner
}

// first returns the first object of a list that suits.
func (f fields) first(list string, suits func(fields) bool) fields {
	elements, _ := f[list].([]any)
	for _, element := range elements {
		if object, ok := element.(map[string]any); ok && suits(object) {
			return object
		}
	}
	return nil
}

func anyOne(fields) bool { return true }

// segment is a value as one segment of a path.
func segment(value string) string { return "/" + url.PathEscape(value) }
