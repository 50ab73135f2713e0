package client

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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// maxAnswer bounds what is read of one answer, in bytes.
const maxAnswer = 64 << 20

// operation is one operation of the contract.
type operation struct {
	// name is the operationId.
	name   string
	method string
	// route is the path with a placeholder for every path value.
	route string
	// repeatable marks a POST that may be sent twice without harm. Every other method may.
	repeatable bool
	// slow marks an operation that the service may work on for minutes. An attempt has slowTime at least, and one whose time
	// ran out is the last: another would have the service begin once more.
	slow bool
	// warmsUp marks a slow operation that is fast once the service has worked on it: one that a gateway gave up is repeated.
	warmsUp bool
}

// slowTime is how long an attempt at a slow operation may take even where request_timeout is shorter.
const slowTime = 5 * time.Minute

// changes reports whether the operation may change something at the service.
func (o operation) changes() bool { return o.method != http.MethodGet }

// request is one call of an operation.
type request struct {
	op operation
	// path holds the values of the route's placeholders, in order.
	path  []string
	query url.Values
	// body is sent as JSON; nil sends none.
	body any
	// noun is the key in which the service may wrap a single object.
	noun string
	// repeatable overrides the operation's where one call is safer than the operation in general.
	repeatable bool
	// accept are the media types of the answer; empty means JSON.
	accept string
}

// answer is what came back of a request that succeeded.
type answer struct {
	body   []byte
	status int
	// at is the service's own time, to the second; zero where it does not tell.
	at time.Time
}

// call sends a request and decodes its answer, which must be JSON.
func call[T any](ctx context.Context, c *conn, r request) (*T, error) {
	got, err := c.exchange(ctx, r, wantJSON)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(unwrap(got.body, r.noun), out); err != nil {
		return nil, unusable(r.op, fmt.Errorf("the answer has an unexpected shape: %w", err))
	}
	return out, nil
}

// callNoAnswer sends a request whose answer does not matter beyond its status.
func (c *conn) callNoAnswer(ctx context.Context, r request) error {
	_, err := c.exchange(ctx, r, wantNoPage)
	return err
}

// want is what an answer with success must be to be one of the service's.
type want int

const (
	// wantStatus takes any body.
	wantStatus want = iota
	// wantNoPage takes no body or JSON, whole or not: a page is no word of the service that anything was done.
	wantNoPage
	// wantJSON takes whole JSON only.
	wantJSON
)

// unusable is the failure of an operation whose answer came but cannot be used.
func unusable(op operation, err error) *TransportError {
	return &TransportError{Operation: op.name, Method: op.method, Route: op.route, Changes: op.changes(), Err: err}
}

// exchange sends a request and returns the answer to it. Errors are *APIError and *TransportError, or say that the request cannot be made.
//
// A request that changes something runs to its answer even if ctx ends meanwhile: what it made must be known before the
// run stops. Before it is sent, and between its repetitions, ctx is obeyed.
func (c *conn) exchange(ctx context.Context, r request, wanted want) (*answer, error) {
	var body []byte
	resp, err := c.send(ctx, r, c.apiFor(r.op), func(resp *http.Response) (err error) {
		body, err = readAnswer(resp, wanted)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		return nil, c.refusal(r.op, resp, body) //nolint:contextcheck // The response has the context of its own attempt.
	}
	return &answer{body: body, status: resp.StatusCode, at: dateOf(resp.Header)}, nil
}

// apiFor is the client for whole answers that gives an operation its time.
func (c *conn) apiFor(op operation) *retryablehttp.Client {
	if !op.slow || c.api.HTTPClient.Timeout >= slowTime {
		return c.api
	}
	once := *c.api.HTTPClient
	once.Timeout = slowTime
	return c.repeating(&once)
}

// send sends a request until it gets an answer that read can use. The caller closes the answer.
func (c *conn) send(ctx context.Context, r request, api *retryablehttp.Client, read func(*http.Response) error) (*http.Response, error) {
	if err := c.Configured(); err != nil {
		return nil, err
	}
	req, state, err := c.newRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	// The body is read here, inside the retry loop, so that an answer that breaks off is repeated like a connection that broke.
	req.SetResponseHandler(read)
	if r.op.slow && api.HTTPClient.Timeout == slowTime {
		state.atLeast = slowTime
	}
	if err := state.enter(c.gate); err != nil {
		return nil, state.failure(err)
	}
	started := c.Clock.Now()
	resp, err := api.Do(req)
	fields := map[string]any{"operation": r.op.name, "method": r.op.method, "route": r.op.route, "duration_ms": c.Clock.Now().Sub(started).Milliseconds()}
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

// refusal is the error that an answer without success stands for.
func (c *conn) refusal(op operation, resp *http.Response, body []byte) *APIError {
	failed := newAPIError(op, resp, body)
	asked, _ := c.retry.retryAfter(resp.Header)
	failed.TooLong = asked > maxRetryAfter
	if resp.Request != nil {
		state := attemptsIn(resp.Request.Context())
		failed.Repeated = state != nil && state.actedBefore
	}
	return failed
}

// newRequest makes the request of a call and the state of its attempts.
func (c *conn) newRequest(ctx context.Context, r request) (*retryablehttp.Request, *attempts, error) {
	target, err := c.target(r)
	if err != nil {
		return nil, nil, err
	}
	var payload any
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: the request cannot be encoded: %w", r.op.name, err)
		}
		payload = encoded
	}
	ctx = withAttempts(ctx, r.op.method != http.MethodPost || r.op.repeatable || r.repeatable)
	state := attemptsIn(ctx)
	state.op = r.op
	if r.op.changes() {
		ctx = context.WithoutCancel(ctx)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.op.method, target, payload)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the request cannot be made: %w", r.op.name, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.apiKey)
	req.Header.Set("Accept", cmp.Or(r.accept, "application/json"))
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
	err = withoutURL(err)
	if ended := a.caller.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w (%w)", ended, err)
	}
	if a.status != 0 {
		err = fmt.Errorf("%w, after an answer %d", err, a.status)
	}
	failure := unusable(a.op, err)
	failure.Unsent, failure.Timeout = !a.acted, timeout
	if a.timedOut {
		failure.AtLeast = a.atLeast
	}
	return failure
}

// serviceClock remembers the latest time that an answer of the service told.
type serviceClock struct {
	mu     sync.Mutex
	latest time.Time
	// heard is when the last answer came, by this machine's clock.
	heard time.Time
}

func (s *serviceClock) note(h http.Header, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = now
	if at := dateOf(h); at.After(s.latest) {
		s.latest = at
	}
}

// serviceTime is the latest time that the service told in any answer; zero if it never did. It never goes back.
func (c *conn) serviceTime() time.Time {
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	return c.service.latest
}

// lastHeard is when the service last answered anything, by this machine's clock.
func (c *conn) lastHeard() time.Time {
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	return c.service.heard
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
func (c *conn) target(r request) (string, error) {
	path := r.op.route
	for _, value := range r.path {
		if value == "" || value == "." || value == ".." {
			return "", fmt.Errorf("%s: %q cannot be part of a request's path; check the ID or the name that was given", r.op.name, value)
		}
		head, rest, found := strings.Cut(path, "{")
		_, tail, _ := strings.Cut(rest, "}")
		if !found {
			return "", fmt.Errorf("%s: more path values than placeholders in %s", r.op.name, r.op.route)
		}
		// A brace in a value is escaped, so that it is not taken for a placeholder.
		path = head + url.PathEscape(value) + tail
	}
	if strings.Contains(path, "{") {
		return "", fmt.Errorf("%s: a path value is missing for %s", r.op.name, r.op.route)
	}
	target := c.base.String() + path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	return target, nil
}

func readAnswer(resp *http.Response, wanted want) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if resp.StatusCode >= 300 {
		// An error's text is welcome but not needed.
		return body, nil
	}
	start := bytes.TrimSpace(body)
	switch {
	case err != nil && wanted == wantJSON:
		return nil, fmt.Errorf("the answer (status %d) broke off after %d bytes: %w", resp.StatusCode, len(body), err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer (status %d) is larger than %d bytes", resp.StatusCode, maxAnswer)
	case wanted == wantJSON && !json.Valid(body), wanted == wantNoPage && len(start) > 0 && start[0] != '{' && start[0] != '[':
		kind := resp.Header.Get("Content-Type")
		if kind == "" {
			kind = "no content type"
		}
		return nil, fmt.Errorf("the answer (status %d, %s, %d bytes) is not JSON, as if something else than the service stood at base_url", resp.StatusCode, kind, len(body))
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

// withoutURL drops the URL that net/http puts in front of its errors: the operation and route say more, and a signed URL is a secret.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

func setIf(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}

func setIfTrue(q url.Values, key string, value bool) {
	if value {
		q.Set(key, strconv.FormatBool(value))
	}
}

// afterStop is how long the recovery from a lost answer may still take once the run is being stopped.
const afterStop = 15 * time.Second

// outlive returns a context that goes on for a while after ctx has ended: what a request may have left behind must be
// known, or revoked, before the run stops.
func outlive(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(after, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// stream is send for an answer that may take longer than request_timeout as long as its bytes move.
func (c *conn) stream(ctx context.Context, r request, read func(*http.Response) error) (*http.Response, error) {
	return c.send(ctx, r, c.streams, read)
}
