package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const testKey = "fk-test-key-0123456789"

// recorder is a service that answers as it is told and remembers what it was asked.
type recorder struct {
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func (r *recorder) remember(req *http.Request) int {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.bodies = append(r.requests, req), append(r.bodies, string(body))
	return len(r.requests)
}

func (r *recorder) count(method string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, req := range r.requests {
		if req.Method == method {
			n++
		}
	}
	return n
}

func drop(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// testStart is what the service's clock shows, and the client's at first.
var testStart = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func answerJSON(w http.ResponseWriter, status int, body string) {
	if _, told := w.Header()["Date"]; !told {
		w.Header().Set("Date", testStart.Format(http.TimeFormat))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func cut(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"id":"c1","na`)
}

// short writes a request as "GET /env_1?query", without what all paths of environments begin with.
func short(r *http.Request) string {
	return r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v0/environments")
}

// say answers with what starts with a status, such as "403 {}". "drop" breaks the connection.
func say(w http.ResponseWriter, answer string) {
	if answer == "drop" {
		drop(w)
	}
	code, body, _ := strings.Cut(answer, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		status, body = http.StatusTeapot, `{"detail":"nobody asks for this: `+answer+`"}`
	}
	answerJSON(w, status, body)
}

// calls are the requests so far.
func (r *recorder) calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := make([]string, len(r.requests))
	for i, req := range r.requests {
		calls[i] = short(req)
	}
	return calls
}

func (r *recorder) want(t *testing.T, calls ...string) {
	t.Helper()
	if got := r.calls(); !slices.Equal(got, calls) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(calls, "\n"))
	}
}

// answers are the answers to requests, by what short writes of them.
func answers(by map[string]string) func(string) string {
	return func(call string) string { return by[call] }
}

// is reports that an error is one of a type.
func is[E error](err error) bool {
	var wanted E
	return errors.As(err, &wanted)
}

func pageOf(envelope, next string, objects []string) string {
	pagination := `{"hasMore":false,"nextCursor":null}`
	if next != "" {
		pagination = fmt.Sprintf(`{"hasMore":true,"nextCursor":%q}`, next)
	}
	return fmt.Sprintf(`200 {%q:[%s],"pagination":%s}`, envelope, strings.Join(objects, ","), pagination)
}

func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.bodies = nil, nil
}

func notFound(w http.ResponseWriter) {
	answerJSON(w, 404, `{"detail":"there is none","status":404,"title":"Not Found"}`)
}

func forbidden(w http.ResponseWriter) {
	answerJSON(w, 403, `{"detail":"no","status":403,"title":"Forbidden"}`)
}

func callOf(r *http.Request) string {
	return r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v0/sessions")
}

// wantCalls are the requests that were sent.
func wantCalls(t *testing.T, rec *recorder, calls ...string) {
	t.Helper()
	var got []string
	for _, r := range rec.requests {
		got = append(got, callOf(r))
	}
	if !slices.Equal(got, calls) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(calls, "\n"))
	}
}

// handler answers the nth request, counted from 1.
type handler func(w http.ResponseWriter, r *http.Request, n int)

// serveHTTP starts a service. A client that does not stop asking is told to.
func serveHTTP(t testing.TB, handle handler) (address string, rec *recorder) {
	t.Helper()
	rec = &recorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := rec.remember(r)
		if n > 1000 {
			answerJSON(w, http.StatusLoopDetected, `{"detail":"the client does not stop"}`)
			return
		}
		handle(w, r, n)
	}))
	t.Cleanup(server.Close)
	return server.URL, rec
}

// inShort answers requests by what short writes of them.
func inShort(answer func(call string) string) handler {
	var mu sync.Mutex // An answer that is dropped orders nothing.
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		mu.Lock()
		text := answer(short(r))
		mu.Unlock()
		say(w, text)
	}
}

// isA reports that an error is as wanted; nil wants none.
func isA(err error, want func(error) bool) bool {
	if want == nil {
		return err == nil
	}
	return want(err)
}

// storageService is a file storage that answers the nth request, counted from 1, with handle.
type storageService struct {
	mu       sync.Mutex
	requests []*http.Request
	forms    []map[string]string
	*httptest.Server
}

func serveStorage(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, n int)) *storageService {
	t.Helper()
	s := &storageService{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form := map[string]string{}
		if reader, err := r.MultipartReader(); err == nil {
			for {
				part, err := reader.NextPart()
				if err != nil {
					break
				}
				data, _ := io.ReadAll(part)
				form[part.FormName()] = string(data)
				if part.FileName() != "" {
					form["name of the file"], form["type of the file"] = part.FileName(), part.Header.Get("Content-Type")
				}
			}
		}
		s.mu.Lock()
		s.requests, s.forms = append(s.requests, r), append(s.forms, form)
		n := len(s.requests)
		s.mu.Unlock()
		handle(w, r, n)
	}))
	t.Cleanup(s.Close)
	return s
}

// seen returns what was received so far.
func (s *storageService) seen() ([]*http.Request, []map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests), slices.Clone(s.forms)
}

func noContent(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusNoContent) }

// endless is a file of zeros that takes no memory.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// ending are the two ways in which a caller's context ends while a request is on its way.
func ending(t *testing.T) map[string]func() (ctx context.Context, end func()) {
	t.Helper()
	return map[string]func() (context.Context, func()){
		"cancelled": func() (context.Context, func()) {
			return context.WithCancel(t.Context())
		},
		"deadline": func() (context.Context, func()) {
			ctx := &deadlineContext{Context: t.Context(), done: make(chan struct{})}
			return ctx, func() { close(ctx.done) }
		},
	}
}

// deadlineContext ends as if its deadline had passed, when the test says so.
type deadlineContext struct {
	context.Context //nolint:containedctx // This is a context.

	done chan struct{}
}

func (c *deadlineContext) Deadline() (time.Time, bool) { return time.Now().Add(time.Hour), true }

func (c *deadlineContext) Done() <-chan struct{} { return c.done }

func (c *deadlineContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// endAtSleep is a clock on which every sleep ends with the context.
type endAtSleep struct {
	clock.Clock

	end func()
}

func (c endAtSleep) Sleep(ctx context.Context, _ time.Duration) error {
	c.end()
	return ctx.Err()
}

// bubbled is a service inside a synctest bubble: it takes no time, except for what an answer "wait" stands for.
type bubbled struct {
	began   time.Time
	answer  func(call string) string
	mu      sync.Mutex
	seen    []string
	waiting chan struct{}
	// refusing is until when requests are refused for their rate, which is not noted.
	refusing time.Time
}

func (b *bubbled) RoundTrip(r *http.Request) (*http.Response, error) {
	if time.Now().Before(b.refusing) {
		w := httptest.NewRecorder()
		say(w, `429 {"detail":"slow down"}`)
		return w.Result(), nil
	}
	b.mu.Lock()
	b.seen = append(b.seen, time.Since(b.began).String()+" "+short(r))
	answer := b.answer(short(r))
	b.mu.Unlock()
	if rest, ok := strings.CutPrefix(answer, "wait "); ok {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-b.waiting:
		}
		answer = rest
	}
	w := httptest.NewRecorder()
	say(w, answer)
	_, _ = io.WriteString(w, "\n")
	return w.Result(), nil
}

func (b *bubbled) want(t *testing.T, calls ...string) {
	t.Helper()
	synctest.Wait()
	slices.Sort(b.seen) // Those of one moment have no order.
	slices.Sort(calls)
	if !slices.Equal(b.seen, calls) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(b.seen, "\n"), strings.Join(calls, "\n"))
	}
}

func newBubbled(answer func(call string) string) *bubbled {
	return &bubbled{began: time.Now(), answer: answer, waiting: make(chan struct{})}
}
