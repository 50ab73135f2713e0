// Package clienttest has fake services for the tests of the client.
package clienttest

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

const Key = "fk-test-key-0123456789"

// Recorder records the requests that a service receives.
type Recorder struct {
	Mu       sync.Mutex
	Requests []*http.Request
	Bodies   []string
}

func (r *Recorder) Remember(req *http.Request) int {
	body, _ := io.ReadAll(req.Body)
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Requests, r.Bodies = append(r.Requests, req), append(r.Bodies, string(body))
	return len(r.Requests)
}

func (r *Recorder) Count(method string) int {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	n := 0
	for _, req := range r.Requests {
		if req.Method == method {
			n++
		}
	}
	return n
}

// WantCount fails the test unless the service received this number of requests with a method.
func (r *Recorder) WantCount(t *testing.T, method string, want int) {
	t.Helper()
	if got := r.Count(method); got != want {
		t.Errorf("%d requests with %s, want %d: %v", got, method, want, r.Calls())
	}
}

// Must ends the test at an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantText fails the test if there is an error that lacks one of the texts.
func WantText(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("the error lacks %q: %v", text, err)
		}
	}
}

func Drop(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// Start is the time of the service's clock, and the initial time of the client's.
var Start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func RespondJSON(w http.ResponseWriter, status int, body string) {
	if _, told := w.Header()["Date"]; !told {
		w.Header().Set("Date", Start.Format(http.TimeFormat))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func Cut(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"id":"c1","na`)
}

// short formats a request as "GET /env_1?query", without the prefix of environment paths.
func short(r *http.Request) string {
	return r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v0/environments")
}

// Say sends a response such as "403 {}". "drop" breaks the connection.
func Say(w http.ResponseWriter, response string) {
	if response == "drop" {
		Drop(w)
	}
	code, body, _ := strings.Cut(response, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		status, body = http.StatusTeapot, `{"detail":"nobody asks for this: `+response+`"}`
	}
	RespondJSON(w, status, body)
}

// Calls returns the requests so far, as short formats them.
func (r *Recorder) Calls() []string {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	calls := make([]string, len(r.Requests))
	for i, req := range r.Requests {
		calls[i] = short(req)
	}
	return calls
}

func (r *Recorder) Want(t *testing.T, calls ...string) {
	t.Helper()
	if got := r.Calls(); !slices.Equal(got, calls) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(calls, "\n"))
	}
}

// Responses looks up responses by what short returns for a request.
func Responses(by map[string]string) func(string) string {
	return func(call string) string { return by[call] }
}

// Is reports whether an error has a type.
func Is[E error](err error) bool {
	var wanted E
	return errors.As(err, &wanted)
}

func PageOf(envelope, next string, objects []string) string {
	pagination := `{"hasMore":false,"nextCursor":null}`
	if next != "" {
		pagination = fmt.Sprintf(`{"hasMore":true,"nextCursor":%q}`, next)
	}
	return fmt.Sprintf(`200 {%q:[%s],"pagination":%s}`, envelope, strings.Join(objects, ","), pagination)
}

func NotFound(w http.ResponseWriter) {
	RespondJSON(w, 404, `{"detail":"there is none","status":404,"title":"Not Found"}`)
}

func Forbidden(w http.ResponseWriter) {
	RespondJSON(w, 403, `{"detail":"no","status":403,"title":"Forbidden"}`)
}

func CallOf(r *http.Request) string {
	return r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v0/sessions")
}

// WantCalls compares the requests that were sent.
func WantCalls(t *testing.T, rec *Recorder, calls ...string) {
	t.Helper()
	var got []string
	for _, r := range rec.Requests {
		got = append(got, CallOf(r))
	}
	if !slices.Equal(got, calls) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(calls, "\n"))
	}
}

// Handler handles the nth request, counted from 1.
type Handler func(w http.ResponseWriter, r *http.Request, n int)

// Serve starts a service. It rejects everything after 1,000 requests, so that a client in a loop fails.
func Serve(t testing.TB, handle Handler) (address string, rec *Recorder) {
	t.Helper()
	rec = &Recorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := rec.Remember(r)
		if n > 1000 {
			RespondJSON(w, http.StatusLoopDetected, `{"detail":"the client does not stop"}`)
			return
		}
		handle(w, r, n)
	}))
	t.Cleanup(server.Close)
	return server.URL, rec
}

// InShort handles requests by what short returns for them.
func InShort(response func(call string) string) Handler {
	var mu sync.Mutex // A dropped response does not synchronize the calls of response.
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		mu.Lock()
		text := response(short(r))
		mu.Unlock()
		Say(w, text)
	}
}

// IsA reports whether an error is as wanted; nil wants no error.
func IsA(err error, want func(error) bool) bool {
	if want == nil {
		return err == nil
	}
	return want(err)
}

// StorageService is a file storage that handles the nth request, counted from 1, with handle.
type StorageService struct {
	mu       sync.Mutex
	requests []*http.Request
	forms    []map[string]string
	*httptest.Server
}

func ServeStorage(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, n int)) *StorageService {
	t.Helper()
	s := &StorageService{}
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

// Seen returns the requests and forms so far.
func (s *StorageService) Seen() ([]*http.Request, []map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests), slices.Clone(s.forms)
}

func NoContent(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusNoContent) }

// Endless is a file of zeros that needs no memory.
type Endless struct{}

func (Endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Ending returns the two ways in which a caller's context ends during a request.
func Ending(t *testing.T) map[string]func() (ctx context.Context, end func()) {
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

// deadlineContext ends when the test says so, as if its deadline had passed.
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

// EndAtSleep is a clock that ends the context in every sleep.
type EndAtSleep struct {
	clock.Clock

	End func()
}

func (c EndAtSleep) Sleep(ctx context.Context, _ time.Duration) error {
	c.End()
	return ctx.Err()
}

// Bubbled is a service inside a synctest bubble. Only the response "wait" takes time.
type Bubbled struct {
	Began    time.Time
	response func(call string) string
	Mu       sync.Mutex
	Seen     []string
	Waiting  chan struct{}
	// Refusing is the time until which requests are rejected with 429 and not recorded.
	Refusing time.Time
}

func (b *Bubbled) RoundTrip(r *http.Request) (*http.Response, error) {
	if time.Now().Before(b.Refusing) {
		w := httptest.NewRecorder()
		Say(w, `429 {"detail":"slow down"}`)
		return w.Result(), nil
	}
	b.Mu.Lock()
	b.Seen = append(b.Seen, time.Since(b.Began).String()+" "+short(r))
	response := b.response(short(r))
	b.Mu.Unlock()
	if rest, ok := strings.CutPrefix(response, "wait "); ok {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-b.Waiting:
		}
		response = rest
	}
	w := httptest.NewRecorder()
	Say(w, response)
	_, _ = io.WriteString(w, "\n")
	return w.Result(), nil
}

func (b *Bubbled) Want(t *testing.T, calls ...string) {
	t.Helper()
	synctest.Wait()
	slices.Sort(b.Seen) // Concurrent requests have no order.
	slices.Sort(calls)
	if !slices.Equal(b.Seen, calls) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(b.Seen, "\n"), strings.Join(calls, "\n"))
	}
}

func NewBubbled(response func(call string) string) *Bubbled {
	return &Bubbled{Began: time.Now(), response: response, Waiting: make(chan struct{})}
}
