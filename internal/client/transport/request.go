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
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

// Response is a successful response.
type Response struct {
	Body []byte
	// At is the service's time, to the second; zero if the response has no date.
	At time.Time
}

// Call sends a request and decodes its response, which must be JSON.
func Call[T any](ctx context.Context, c *Conn, r Request) (*T, error) {
	got, err := c.Exchange(ctx, r, OnlyJSON)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := wire.Decode(got.Body, "", out); err != nil {
		return nil, NewTransportError(r.Op, err)
	}
	return out, nil
}

// Until sends a request again, after a pause, while again accepts its error, for at most patience.
func (c *Conn) Until(ctx context.Context, patience, pause time.Duration, again func(error) bool, send func() error) error {
	for until := c.Clock.Now().Add(patience); ; {
		err := send()
		left := until.Sub(c.Clock.Now())
		if !again(err) || left <= 0 || c.Clock.Sleep(ctx, min(pause, left)) != nil {
			return err
		}
	}
}

// CallIgnoringBody sends a request for which only the status of the response matters.
func (c *Conn) CallIgnoringBody(ctx context.Context, r Request) error {
	_, err := c.Exchange(ctx, r, EmptyOrJSON)
	return err
}

// Body says which bodies are accepted in a successful response.
type Body int

const (
	AnyBody Body = iota
	// EmptyOrJSON rejects a page of another server, which does not prove that the service acted.
	EmptyOrJSON
	// OnlyJSON requires complete JSON.
	OnlyJSON
)

// NewTransportError returns the error of an operation without a usable response.
func NewTransportError(op Operation, err error) *TransportError {
	return &TransportError{Op: op, Err: err}
}

// Exchange sends a request and returns its response. Errors are *APIError and *TransportError, or say that the request is
// invalid.
//
// A request that changes something waits for its response even if ctx is canceled: the caller must know what was created
// before the run stops. Before the request is sent, and between retries, ctx is respected.
func (c *Conn) Exchange(ctx context.Context, r Request, accepted Body) (*Response, error) {
	resp, state, err := c.send(ctx, r, c.apiFor(r.Op), func(resp *http.Response) ([]byte, error) { return ReadBody(resp, accepted) })
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		failed := c.ErrorOf(r.Op, resp, state.body)
		failed.Repeated, failed.Once = state.actedBefore, !state.repeatable
		return nil, failed
	}
	at := dateOf(resp.Header)
	if isOwn(state.body) {
		c.service.note(at, state.arrivedAt)
	}
	return &Response{Body: state.body, At: at}, nil
}

// apiFor returns the client with the operation's timeout.
func (c *Conn) apiFor(op Operation) *http.Client {
	if !op.Slow {
		return c.api
	}
	once := *c.api
	once.Timeout = max(once.Timeout, slowTime)
	return &once
}

// send sends a request until it gets a response that read accepts. The caller closes the response.
func (c *Conn) send(ctx context.Context, r Request, api *http.Client, read func(*http.Response) ([]byte, error)) (*http.Response, *attempts, error) {
	if err := c.Configured(); err != nil {
		return nil, nil, err
	}
	req, state, err := c.newRequest(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	started := c.Clock.Now()
	resp, err := c.retry.repeat(state, func() (*http.Response, bool, error) {
		asked := c.Clock.Now()
		if err := c.limiter.wait(state.caller, &state.ticket); err != nil { //nolint:contextcheck // A request that changes something outlives its caller, but its wait does not.
			return nil, false, err
		}
		c.report.waited(ctx, runreport.Line{Wait: runreport.WaitRate, Operation: r.Op.Name}, asked)
		sent := c.Clock.Now()
		resp, err := api.Do(copyOf(req))
		state.arrivedAt = c.Clock.Now()
		state.noteTimeout(req, err)
		if isCertificateDemand(err) {
			state.connected.Store(false)
		}
		again := c.afterAttempt(state, resp, err)
		if err == nil && !again {
			// A response that is cut off is retried like a failed connection.
			state.body, err = read(resp)
			state.noteTimeout(req, err)
			again = err != nil && c.retry.again(state, resp, err)
		}
		c.reportAttempt(ctx, state, sent, resp, err, again)
		return resp, again, err
	})
	fields := map[string]any{"operation": r.Op.Name, "method": r.Op.Method, "route": r.Op.Route, "duration_ms": c.Clock.Now().Sub(started).Milliseconds()}
	if resp != nil {
		fields["status"] = resp.StatusCode
	}
	tflog.Debug(tflog.MaskAllFieldValuesStrings(ctx, c.apiKey), "Agentyard API request", fields)

	if err != nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, nil, state.failure(err)
	}
	return resp, state, nil
}

// afterAttempt records the outcome of an attempt at the API, and reports whether to repeat it.
func (c *Conn) afterAttempt(state *attempts, resp *http.Response, err error) bool {
	refused := resp != nil && resp.StatusCode == http.StatusTooManyRequests
	state.acted = state.acted || state.connected.Load() && !refused
	state.refusal = nil
	if refused {
		return c.afterRefusal(state, resp)
	}
	if resp != nil {
		c.limiter.accepted(&state.ticket)
	}
	return c.retry.again(state, resp, err)
}

// afterRefusal stops all requests for a while and reports whether to retry after a 429. The number of such retries is not limited, because
// the service did not act, but the wait is.
func (c *Conn) afterRefusal(state *attempts, resp *http.Response) bool {
	requested, _ := c.retry.retryAfter(resp.Header)
	err := c.limiter.refused(state.caller, &state.ticket, requested)
	if err != nil || state.caller.Err() != nil {
		return false
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorText))
	state.refusal, state.pause = c.ErrorOf(state.request.Op, resp, body), 0
	return true
}

// copyOf returns a request for one attempt: net/http may still read the body of an earlier one.
func copyOf(req *http.Request) *http.Request {
	once := req.WithContext(req.Context())
	if req.GetBody != nil {
		once.Body, _ = req.GetBody() // A body in memory cannot fail.
	}
	return once
}

// newRequest returns the HTTP request of a call and the state of its attempts.
func (c *Conn) newRequest(ctx context.Context, r Request) (*http.Request, *attempts, error) {
	target, err := c.target(r)
	if err != nil {
		return nil, nil, err
	}
	var payload io.Reader
	var encoded []byte
	if r.Body != nil {
		if encoded, err = json.Marshal(r.Body); err != nil {
			return nil, nil, fmt.Errorf("%s: the request cannot be encoded: %w", r.Op.Name, err)
		}
		payload = bytes.NewReader(encoded)
	}
	state, ctx := newAttempts(ctx, r, r.Op.Method != http.MethodPost || r.Op.Repeatable)
	state.sent, state.line = encoded, c.report.described(r, target, encoded)
	if r.Op.Changes() {
		ctx = context.WithoutCancel(ctx)
	}
	req, err := http.NewRequestWithContext(ctx, r.Op.Method, target, payload)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the request cannot be made: %w", r.Op.Name, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.apiKey)
	req.Header.Set("Accept", cmp.Or(r.Accept, "application/json"))
	req.Header.Set("User-Agent", c.userAgent)
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, state, nil
}

// noteTimeout records whether an attempt reached its own timeout.
func (a *attempts) noteTimeout(req *http.Request, err error) {
	a.timedOut = req.Context().Err() == nil && errors.Is(err, context.DeadlineExceeded) && !isDialFault(err)
}

// failure returns the error for a call without a response, including whether the service may have acted.
func (a *attempts) failure(err error) error {
	if a.refusal != nil && errors.Is(err, ErrHeldBack) {
		a.refusal.Repeated = a.acted
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
	failure := NewTransportError(a.request.Op, err)
	failure.Unsent, failure.Timeout = !a.acted, timeout
	return failure
}

// target builds the URL. It escapes all values, and rejects those that escaping cannot make safe.
func (c *Conn) target(r Request) (string, error) {
	path := r.Op.Route
	for _, value := range r.Path {
		if value == "" || value == "." || value == ".." {
			return "", fmt.Errorf("%s: %q cannot be part of a request's path; correct the ID, or use the object's ID if this is its name", r.Op.Name, value)
		}
		head, rest, found := strings.Cut(path, "{")
		_, tail, _ := strings.Cut(rest, "}")
		if !found {
			return "", fmt.Errorf("%s: more path values than placeholders in %s", r.Op.Name, r.Op.Route)
		}
		// Braces in a value are escaped, so they are not mistaken for a placeholder.
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
		// The message of an error response is optional.
		return body, nil
	}
	switch {
	case err != nil && accepted == OnlyJSON:
		return nil, fmt.Errorf("the response (status %d) was cut off after %d bytes: %w", resp.StatusCode, len(body), err)
	case len(body) > maxBody:
		return nil, fmt.Errorf("the response (status %d) %w", resp.StatusCode, ErrTooLarge)
	case accepted == OnlyJSON && !json.Valid(body), accepted == EmptyOrJSON && !isOwn(body):
		kind := cmp.Or(resp.Header.Get("Content-Type"), "no content type")
		return nil, fmt.Errorf("the response (status %d, %s, %d bytes) is not JSON; it may come from another server at base_url", resp.StatusCode, kind, len(body))
	}
	return body, nil
}

// isOwn reports whether a successful response is the service's: it has no body, or an object or a list.
func isOwn(body []byte) bool {
	start := bytes.TrimSpace(body)
	return len(start) == 0 || start[0] == '{' || start[0] == '['
}

// WithoutURL removes the URL that net/http adds to its errors: a signed URL is a secret, and the operation and route say more.
func WithoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// SetIf sets a query parameter unless its value is empty.
func SetIf(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}

// ListedWithin is how late a listing may show a new object, as far as nothing else is known.
const ListedWithin = 7 * time.Second

// pastCancelTime is how long a recovery may continue after the caller's context has ended: until the object is listed, and for requests.
const pastCancelTime = ListedWithin + 8*time.Second

// PastCancel returns a context that ends pastCancelTime after ctx: an object that a request may have created must be found or
// revoked before the run stops.
func PastCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(pastCancelTime, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// Stream is send for a response that may take longer than request_timeout as long as data is transferred.
func (c *Conn) Stream(ctx context.Context, r Request, read func(*http.Response) (body []byte, err error)) (*http.Response, error) {
	resp, _, err := c.send(ctx, r, c.transfers, read)
	return resp, err
}
