package emulator

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

const (
	// maxBody is the largest request body in bytes; the API leaves the limit open.
	maxBody = 1 << 20
	// maxWikiBody is maxBody for all pages of a wiki in one request.
	maxWikiBody = 16 << 20
)

// ServerName is the Server header of each response of the API.
const ServerName = "agentyard-emulator"

// exchange is what the layers of the server know about one request. It travels in the request's context.
type exchange struct {
	route   *route
	params  map[string]string
	allowed []string // Methods of the routes that match the path, if none matches the method.
	entry   *Entry
}

type exchangeKey struct{}

// noun names what a route is about, for messages.
func (x *exchange) noun() string {
	if x.route == nil {
		return "object"
	}
	return strings.TrimSuffix(strings.TrimPrefix(x.route.operation, "get"), "ByName")
}

// answer collects a response, so that faults can spoil it and the journal knows it before the client does.
type response struct {
	header  http.Header
	status  int
	body    bytes.Buffer
	drop    bool // Close the connection instead of answering,
	partial bool // after sending what is in body.
}

func (a *response) Header() http.Header { return a.header }

func (a *response) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *response) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *response) reset() {
	a.status = 0
	a.body.Reset()
	a.header = http.Header{}
}

// sendTo writes the response to the client, or cuts the connection as a fault demanded.
func (a *response) sendTo(w http.ResponseWriter) {
	if a.drop && !a.partial {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Server", ServerName) // So that nobody takes these answers for the service's.
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	w.WriteHeader(a.status)
	_, err := w.Write(a.body.Bytes())
	if a.drop {
		err = errors.Join(err, http.NewResponseController(w).Flush())
	}
	if a.drop || err != nil {
		panic(http.ErrAbortHandler)
	}
}

// serve is the outermost handler of the API listener: control API, status page, rate limit, faults, latency and journal.
func (e *Emulator) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		e.setTime(w.Header())
		e.serveControl(w, r)
		if r.Method != http.MethodGet {
			e.changes.Add(1)
		}
		return
	}
	if r.URL.Path == "/healthz" {
		return // 200, without a key.
	}
	if e.pages.Have(r) {
		e.setTime(w.Header())
		e.pages.ServeHTTP(w, r)
		return
	}
	started := clock.System.Now()
	x := &exchange{}
	operation, params, allowed := e.doc.Find(r)
	x.route, x.params, x.allowed = e.routes[operation], params, allowed
	run := e.runs.join(r, started)
	x.entry = &Entry{
		Time: e.clock.Now(), Started: started, Run: run.number, UserAgent: run.agent, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
	}
	if x.route != nil {
		x.entry.Operation, x.entry.Route = x.route.operation, x.route.pattern
	}
	e.journal.begin(x.entry)
	e.changes.Add(1)

	// The body is read at once: only then does the server notice that a client hung up during a delay.
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(x.route.bodyLimit())+1))
	r.Body = io.NopCloser(bytes.NewReader(body))
	e.journal.change(func() { x.entry.BodyHash, x.entry.Named = maphash.Bytes(hashSeed, body), runreport.NameIn(body) })
	a := &response{header: http.Header{}, drop: err != nil}
	fault, hit := Fault{}, false
	if !a.drop {
		fault, hit = e.response(x, a, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
	}

	e.setTime(a.header)
	if hit && (fault.Kind != FaultNotFoundAfterCreate || r.Method == http.MethodGet) {
		a.header.Set(FaultHeader, string(fault.Kind))
	}
	e.journal.change(func() {
		x.entry.Duration = clock.System.Now().Sub(started)
		if hit {
			x.entry.Fault = string(fault.Kind)
		}
		if !a.drop || a.partial {
			x.entry.Status = a.status
		}
		if r.Method != http.MethodGet || a.status >= http.StatusBadRequest {
			_, x.entry.Refusals, x.entry.RequestID = runreport.Answer(x.entry.Operation, a.body.Bytes())
		}
	})
	e.changes.Add(1)
	if hit && a.drop {
		e.runs.cut(run, clock.System.Now())
	}
	attributes := []any{"status", a.status, "operation", x.entry.Operation, "method", r.Method, "path", r.URL.Path, "took", x.entry.Duration.Round(time.Millisecond)}
	if hit {
		attributes = append(attributes, "fault", string(fault.Kind))
	}
	e.log.Info("request", attributes...)
	a.sendTo(w)
}

// answer fills in the response to one request and returns the fault that hit it.
func (e *Emulator) response(x *exchange, a *response, r *http.Request) (fault Fault, hit bool) {
	if e.opts.Latency > 0 && clock.System.Sleep(r.Context(), e.opts.Latency) != nil {
		a.drop = true
		return Fault{}, false
	}
	if e.limitRate(a, r) {
		return Fault{}, false
	}
	for _, late := range e.faults.takeLate(e.clock.Now()) {
		late.send()
	}
	if x.route != nil {
		fault, hit = e.faults.take(x.route.operation, r)
	}
	if hit && e.beforeCommit(x, a, r, fault) {
		return fault, hit
	}
	e.api.ServeHTTP(a, r)
	if hit {
		e.afterCommit(x, a, r, fault)
	}
	return fault, hit
}

// limitRate answers 429 when the global rate is exceeded.
func (e *Emulator) limitRate(w http.ResponseWriter, r *http.Request) bool {
	if e.limiter == nil {
		return false
	}
	now := e.clock.Now()
	reservation := e.limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait <= 0 {
		return false
	}
	reservation.CancelAt(now)
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	e.writeError(w, r, fail(http.StatusTooManyRequests, "The rate limit of %g requests per second is exceeded. Retry after the time in Retry-After.", e.opts.RequestsPerSecond))
	return true
}

// setTime makes the Date header follow the emulator's clock instead of the machine's.
func (e *Emulator) setTime(h http.Header) { h.Set("Date", e.clock.Now().UTC().Format(http.TimeFormat)) }

// timeOf converts the API's Unix milliseconds.
func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// toMillis is a time as precise as the API's.
func toMillis(t time.Time) time.Time { return timeOf(millis(t)) }
