package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// maxBody bounds what is read of one response, in bytes.
const maxBody = 64 << 20

// Operation is one operation of the contract.
type Operation struct {
	// Name is the operationId.
	Name   string
	Method string
	// Route is the path with a placeholder for every path value.
	Route string
	// Repeatable marks a POST that may be sent twice without harm. Every other method may.
	Repeatable bool
	// Slow marks an operation that the service may work on for minutes. An attempt has slowTime at least, and one whose time
	// ran out is the last: another would have the service begin once more.
	Slow bool
	// WarmsUp marks a slow operation that is fast once the service has worked on it: one that a gateway gave up is repeated.
	WarmsUp bool
}

// slowTime is how long an attempt at a slow operation may take even where request_timeout is shorter.
const slowTime = 5 * time.Minute

// changes reports whether the operation may change something at the service.
func (o Operation) changes() bool { return o.Method != http.MethodGet }

// Request is one call of an operation.
type Request struct {
	Op Operation
	// Path holds the values of the route's placeholders, in order.
	Path  []string
	Query url.Values
	// Body is sent as JSON; nil sends none.
	Body any
	// Noun is the key in which the service may wrap a single object.
	Noun string
	// Repeatable overrides the operation's where one call is safer than the operation in general.
	Repeatable bool
	// Accept are the media types of the response; empty means JSON.
	Accept string
}

// response is the response to a request that succeeded.
type response struct {
	Body   []byte
	status int
	// At is the service's own time, to the second; zero where it does not tell.
	At time.Time
}

// Call sends a request and decodes its response, which must be JSON.
func Call[T any](ctx context.Context, c *Conn, r Request) (*T, error) {
	got, err := c.Exchange(ctx, r, OnlyJSON)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := Decode(got.Body, r.Noun, out); err != nil {
		return nil, NewTransportError(r.Op, err)
	}
	return out, nil
}

// CallIgnoringBody sends a request whose answer does not matter beyond its status.
func (c *Conn) CallIgnoringBody(ctx context.Context, r Request) error {
	_, err := c.Exchange(ctx, r, EmptyOrJSON)
	return err
}

// Body says which bodies are accepted in a successful response.
type Body int

const (
	AnyBody Body = iota
	// EmptyOrJSON rejects the page of another server, which does not mean that the service did anything.
	EmptyOrJSON
	// OnlyJSON requires complete JSON.
	OnlyJSON
)

// NewTransportError is the failure of an operation that got no usable response.
func NewTransportError(op Operation, err error) *TransportError {
	return &TransportError{Operation: op.Name, Method: op.Method, Route: op.Route, Changes: op.changes(), Err: err}
}

// Exchange sends a request and returns the response to it. Errors are *APIError and *TransportError, or say that the request cannot be made.
//
// A request that changes something runs to its response even if ctx ends meanwhile: what it made must be known before the
// run stops. Before it is sent, and between its repetitions, ctx is obeyed.
func (c *Conn) Exchange(ctx context.Context, r Request, accepted Body) (*response, error) {
	var body []byte
	resp, err := c.send(ctx, r, c.apiFor(r.Op), func(resp *http.Response) (err error) {
		body, err = ReadBody(resp, accepted)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		return nil, c.Refusal(r.Op, resp, body) //nolint:contextcheck // The response has the context of its own attempt.
	}
	return &response{Body: body, status: resp.StatusCode, At: dateOf(resp.Header)}, nil
}

// apiFor is the client for whole answers that gives an operation its time.
func (c *Conn) apiFor(op Operation) *retryablehttp.Client {
	if !op.Slow || c.api.HTTPClient.Timeout >= slowTime {
		return c.api
	}
	once := *c.api.HTTPClient
	once.Timeout = slowTime
	return c.repeating(&once)
}

// send sends a request until it gets a response that read can use. The caller closes the response.
func (c *Conn) send(ctx context.Context, r Request, api *retryablehttp.Client, read func(*http.Response) error) (*http.Response, error) {
	if err := c.Configured(); err != nil {
		return nil, err
	}
	req, state, err := c.newRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	// The body is read here, inside the retry loop, so that a response that breaks off is repeated like a connection that broke.
	req.SetResponseHandler(read)
	if r.Op.Slow && api.HTTPClient.Timeout == slowTime {
		state.atLeast = slowTime
	}
	if err := state.enter(c.Gate); err != nil {
		return nil, state.failure(err)
	}
	started := c.Clock.Now()
	resp, err := api.Do(req)
	fields := map[string]any{"operation": r.Op.Name, "method": r.Op.Method, "route": r.Op.Route, "duration_ms": c.Clock.Now().Sub(started).Milliseconds()}
	if resp != nil {
		fields["status"] = resp.StatusCode
	}
	tflog.Debug(tflog.MaskAllFieldValuesStrings(ctx, c.apiKey), "Agentyard API request", fields)

	if err != nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, state.failure(err)
	}
	return resp, nil
}

// Refusal is the error that a response without success stands for.
func (c *Conn) Refusal(op Operation, resp *http.Response, body []byte) *APIError {
	failed := newAPIError(op, resp, body)
	requested, _ := c.Retry.retryAfter(resp.Header)
	failed.TooLong = requested > maxRetryAfter
	if resp.Request != nil {
		state := attemptsIn(resp.Request.Context())
		failed.Repeated = state != nil && state.actedBefore
	}
	return failed
}

// newRequest makes the request of a call and the state of its attempts.
func (c *Conn) newRequest(ctx context.Context, r Request) (*retryablehttp.Request, *attempts, error) {
	target, err := c.target(r)
	if err != nil {
		return nil, nil, err
	}
	var payload any
	if r.Body != nil {
		encoded, err := json.Marshal(r.Body)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: the request cannot be encoded: %w", r.Op.Name, err)
		}
		payload = encoded
	}
	ctx = withAttempts(ctx, r.Op.Method != http.MethodPost || r.Op.Repeatable || r.Repeatable)
	state := attemptsIn(ctx)
	state.op = r.Op
	if r.Op.changes() {
		ctx = context.WithoutCancel(ctx)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.Op.Method, target, payload)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the request cannot be made: %w", r.Op.Name, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.apiKey)
	req.Header.Set("Accept", cmp.Or(r.Accept, "application/json"))
	if c.userAgent != "" {
		req.Header.Set("User-Agent", c.userAgent)
	}
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, state, nil
}

// failure says why a call got no answer, and what that means for what it was to change.
func (a *attempts) failure(err error) error {
	if a.refusal != nil && errors.Is(err, errHeldBack) {
		return a.refusal
	}
	timeout := ""
	switch {
	case a.timedOut:
		timeout = "request_timeout"
	case errors.Is(err, context.DeadlineExceeded) && !isDialFault(err):
		timeout = "timeouts"
	}
	err = WithoutURL(err)
	if ended := a.caller.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w (%w)", ended, err)
	}
	if a.status != 0 {
		err = fmt.Errorf("%w, after a response with status %d", err, a.status)
	}
	failure := NewTransportError(a.op, err)
	failure.Unsent, failure.Timeout = !a.acted, timeout
	if a.timedOut {
		failure.AtLeast = a.atLeast
	}
	return failure
}

// serviceClock remembers the latest time that a response of the service told.
type serviceClock struct {
	mu     sync.Mutex
	Latest time.Time
	// heard is when the last response came, by this machine's clock.
	heard time.Time
}

func (s *serviceClock) note(h http.Header, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = now
	if at := dateOf(h); at.After(s.Latest) {
		s.Latest = at
	}
}

// ServiceTime is the latest time that the service told in any answer; zero if it never did. It never goes back.
func (c *Conn) ServiceTime() time.Time {
	c.Service.mu.Lock()
	defer c.Service.mu.Unlock()
	return c.Service.Latest
}

// LastResponseAt is when the service last responded, by this machine's clock.
func (c *Conn) LastResponseAt() time.Time {
	c.Service.mu.Lock()
	defer c.Service.mu.Unlock()
	return c.Service.heard
}

// dateOf reads the Date header; zero where there is none that can be read.
func dateOf(h http.Header) time.Time {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// target builds the URL. Every value is escaped, and what no escape can keep in its place is refused.
func (c *Conn) target(r Request) (string, error) {
	path := r.Op.Route
	for _, value := range r.Path {
		if value == "" || value == "." || value == ".." {
			return "", fmt.Errorf("%s: %q cannot be part of a request's path; correct the ID or name", r.Op.Name, value)
		}
		head, rest, found := strings.Cut(path, "{")
		_, tail, _ := strings.Cut(rest, "}")
		if !found {
			return "", fmt.Errorf("%s: more path values than placeholders in %s", r.Op.Name, r.Op.Route)
		}
		// A brace in a value is escaped, so that it is not taken for a placeholder.
		path = head + url.PathEscape(value) + tail
	}
	if strings.Contains(path, "{") {
		return "", fmt.Errorf("%s: a path value is missing for %s", r.Op.Name, r.Op.Route)
	}
	target := c.base.String() + path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	return target, nil
}

// ReadBody reads a response's body, and rejects a successful response whose body is not accepted.
func ReadBody(resp *http.Response, accepted Body) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if resp.StatusCode >= 300 {
		// An error's text is welcome but not needed.
		return body, nil
	}
	start := bytes.TrimSpace(body)
	switch {
	case err != nil && accepted == OnlyJSON:
		return nil, fmt.Errorf("the response (status %d) was cut off after %d bytes: %w", resp.StatusCode, len(body), err)
	case len(body) > maxBody:
		return nil, fmt.Errorf("the response (status %d) is larger than %d bytes", resp.StatusCode, maxBody)
	case accepted == OnlyJSON && !json.Valid(body), accepted == EmptyOrJSON && len(start) > 0 && start[0] != '{' && start[0] != '[':
		kind := cmp.Or(resp.Header.Get("Content-Type"), "no content type")
		return nil, fmt.Errorf("the response (status %d, %s, %d bytes) is not JSON; it may come from another server at base_url", resp.StatusCode, kind, len(body))
	}
	return body, nil
}

// unwrap returns the object inside {"noun": {...}}, or the body itself where the service sends the object bare.
func unwrap(body []byte, noun string) []byte {
	if noun == "" {
		return body
	}
	var wrapped map[string]json.RawMessage
	if json.Unmarshal(body, &wrapped) != nil {
		return body
	}
	if inner := bytes.TrimSpace(wrapped[noun]); len(inner) > 0 && inner[0] == '{' {
		return inner
	}
	return body
}

// WithoutURL drops the URL that net/http puts in front of its errors: the operation and route say more, and a signed URL is a secret.
func WithoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

func SetIf(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}

// OutliveTime is how long a recovery may still take after the caller's context has ended.
const OutliveTime = 15 * time.Second

// Outlive returns a context that ends OutliveTime after ctx has ended: what a request may have created must be known, or
// revoked, before the run stops.
func Outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(OutliveTime, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// Stream is send for a response that may take longer than request_timeout as long as its bytes move.
func (c *Conn) Stream(ctx context.Context, r Request, read func(*http.Response) error) (*http.Response, error) {
	return c.send(ctx, r, c.streams, read)
}
