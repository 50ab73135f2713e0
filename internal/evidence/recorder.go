// Package evidence compares what a service does with the contract, and reports it. A report holds names of fields, types, words
// of enums, and statuses. It holds no other value, no header, no host, and no ID.
package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// Result is what is known about an assumption.
type Result string

// The results. An assumption that was refuted once stays refuted.
const (
	Confirmed Result = "confirmed"
	Refuted   Result = "refuted"
	NotSeen   Result = "not seen"
)

// Recorder collects what the exchanges of one run show. Its methods may be called from any goroutine.
type Recorder struct {
	doc           *contract.Document
	clock         clock.Clock
	tool, version string
	started       time.Time
	assumptions   map[string]contract.Assumption // By ID.

	mu         sync.Mutex
	requests   int
	unanswered int
	emulator   bool
	statuses   map[string]map[string]int // By operation.
	deviations map[Place]*Deviation
	judged     map[string]*Assumption
	skipped    []Skipped
}

// NewRecorder returns a recorder for one run of a tool ("testacc" or "agentyard-probe") of a version.
func NewRecorder(doc *contract.Document, tool, version string) *Recorder {
	r := &Recorder{
		doc: doc, clock: clock.System, tool: tool, version: version,
		assumptions: map[string]contract.Assumption{}, statuses: map[string]map[string]int{},
		deviations: map[Place]*Deviation{}, judged: map[string]*Assumption{},
	}
	r.started = r.clock.Now()
	for _, a := range doc.Assumptions() {
		r.assumptions[a.ID] = a
	}
	return r
}

// Rule notes what a trial of an assumption showed. Of several trials of one, refuted wins, then confirmed. The text says what was
// observed, without a value of the service. An ID that the contract does not have is a mistake of the caller, and panics.
func (r *Recorder) Rule(id string, result Result, observed string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	observed = withoutValues(observed)
	r.judge(id, result, observed)
	if result == Refuted {
		a := r.assumptions[id]
		at := Place{Kind: contract.OtherRule, Place: id}
		if len(a.Operations) == 1 {
			at.Operation = a.Operations[0]
		}
		r.count(at, a.Why, observed)
	}
}

// Skip notes a part of the run that was skipped, why, and the variable that would run it ("" if none).
func (r *Recorder) Skip(what, variable, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Skipped{What: withoutValues(what), Variable: variable, Why: withoutValues(why)}
	if !slices.Contains(r.skipped, s) {
		r.skipped = append(r.skipped, s)
	}
}

// rank orders results: what is higher stays.
var rank = map[Result]int{NotSeen: 1, Confirmed: 2, Refuted: 3}

func (r *Recorder) judge(id string, result Result, observed string) {
	assumption, ok := r.assumptions[id]
	if !ok || rank[result] == 0 {
		panic(fmt.Sprintf("evidence: the contract has no assumption %q, or there is no result %q", id, result))
	}
	if known := r.judged[id]; known == nil || rank[result] > rank[known.Result] {
		r.judged[id] = &Assumption{ID: id, Areas: assumption.Areas, Result: result, Observed: observed}
	}
}

// count notes a deviation.
func (r *Recorder) count(at Place, expected, found string) {
	d := r.deviations[at]
	if d == nil {
		r.deviations[at] = &Deviation{Place: at, Expected: expected, Found: found, Count: 1}
		return
	}
	d.Count++
	if all := strings.Split(d.Found, "; "); !slices.Contains(all, found) && len(all) < 10 {
		d.Found += "; " + found
	}
}

// emulatorName is the Server header of this project's emulator. No other server needs to say anything about itself.
const emulatorName = "agentyard-emulator"

// trial marks the context of requests that try out a rule on purpose.
type trial struct{}

// Transport checks and records each exchange that passes through next. Traffic is never changed.
func (r *Recorder) Transport(next http.RoundTripper) http.RoundTripper {
	return tap{r, next}
}

type tap struct {
	*Recorder
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t tap) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil && req.Body != http.NoBody {
		var err error
		sent, err = io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		whole := req.WithContext(req.Context())
		whole.Body = io.NopCloser(bytes.NewReader(sent))
		whole.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
		req = whole
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		t.noAnswer(req.Context(), req, sent)
		return nil, err
	}
	body, readErr := io.ReadAll(resp.Body)
	resp.Body = struct { // After what was read, the original ends as it did.
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
	t.note(req.Context(), &contract.Exchange{
		Request: req, Sent: sent, Status: resp.StatusCode, Header: resp.Header, Received: body, Cut: readErr != nil,
	})
	return resp, nil
}

// api is the exchange's request with the path of the API: an address may have a path before it.
func api(req *http.Request) *http.Request {
	path := req.URL.EscapedPath()
	if i := strings.Index(path, "/api/"); i > 0 {
		moved := req.Clone(context.WithoutCancel(req.Context()))
		if u, err := moved.URL.Parse(path[i:]); err == nil {
			u.RawQuery = req.URL.RawQuery
			moved.URL = u
		}
		return moved
	}
	return req
}

func (r *Recorder) noAnswer(ctx context.Context, req *http.Request, sent []byte) {
	c := r.doc.Check(ctx, &contract.Exchange{Request: api(req), Sent: sent})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	r.unanswered++
	r.answered(c.Operation.ID, "none")
	r.countAll(c, c.Request, 0)
}

// note adds what an exchange shows.
func (r *Recorder) note(ctx context.Context, x *contract.Exchange) {
	tries := ctx.Value(trial{}) != nil
	x.Request = api(x.Request)
	c := r.doc.Check(ctx, x)
	if refused := x.Status == http.StatusBadRequest || x.Status == http.StatusUnprocessableEntity; refused && len(c.Request) == 0 && !tries {
		c.Response = append(c.Response, contract.Deviation{Kind: contract.Refused, Place: "status", Expected: "a request that the contract allows is accepted", Found: strconv.Itoa(x.Status)})
	}
	if tries {
		c.Request = nil // Such a request may break the contract on purpose.
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	r.emulator = r.emulator || x.Header.Get("Server") == emulatorName
	r.answered(c.Operation.ID, strconv.Itoa(x.Status))
	where := " in " + c.Operation.ID + " " + strconv.Itoa(x.Status)
	for _, id := range c.Confirmed {
		r.judge(id, Confirmed, "seen"+where)
	}
	for _, d := range c.Response {
		if d.Assumption != "" {
			r.judge(d.Assumption, Refuted, fmt.Sprintf("%s at %s%s: expected %s, found %s", d.Kind, d.Place, where, d.Expected, d.Found))
		}
	}
	r.countAll(c, c.Request, x.Status)
	r.countAll(c, c.Response, x.Status)
}

// answered counts the status of an operation of the contract.
func (r *Recorder) answered(operation, status string) {
	if operation == "" {
		return
	}
	if r.statuses[operation] == nil {
		r.statuses[operation] = map[string]int{}
	}
	r.statuses[operation][status]++
}

func (r *Recorder) countAll(c *contract.Checked, deviations []contract.Deviation, status int) {
	operation := c.Operation.ID
	if operation == "" {
		operation = c.Operation.Method + " " + c.Operation.Path
	}
	for _, d := range deviations {
		r.count(Place{operation, status, d.Kind, d.Place}, d.Expected, d.Found)
	}
}

// Proxy forwards requests to the service at base, through Transport.
func (r *Recorder) Proxy(base *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(base)
			p.Out.Header.Del("Accept-Encoding") // So that the transport decompresses, and the recorder can read.
		},
		Transport: r.Transport(http.DefaultTransport),
		ErrorLog:  log.New(io.Discard, "", 0), // It would name the host.
		// A client has to see that there was no answer; a status would be one of the service.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// Trial is Proxy for requests that try out a rule on purpose: there, neither a request that breaks the contract nor its refusal is
// a deviation. Everything else is checked as usual.
func (r *Recorder) Trial(base *url.URL) http.Handler {
	proxy := r.Proxy(base)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		proxy.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), trial{}, true)))
	})
}
