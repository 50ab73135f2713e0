// Package clienttest has fake services for the tests of the client.
package clienttest

import (
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
	"time"
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

// Short formats a request as "GET /env_1?query", without the prefix of the paths of environments and sessions.
func Short(r *http.Request) string {
	path := strings.TrimPrefix(r.URL.RequestURI(), "/api/v0/environments")
	return r.Method + " " + strings.TrimPrefix(path, "/api/v0/sessions")
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

// Calls returns the requests so far, as Short formats them.
func (r *Recorder) Calls() []string {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	calls := make([]string, len(r.Requests))
	for i, req := range r.Requests {
		calls[i] = Short(req)
	}
	return calls
}

func (r *Recorder) Want(t *testing.T, calls ...string) {
	t.Helper()
	if got := r.Calls(); !slices.Equal(got, calls) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(calls, "\n"))
	}
}

// Responses looks up responses by what Short returns for a request.
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

// InShort handles requests by what Short returns for them.
func InShort(response func(call string) string) Handler {
	var mu sync.Mutex // A dropped response does not synchronize the calls of response.
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		mu.Lock()
		text := response(Short(r))
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

func NoContent(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusNoContent) }

// Endless is a file of zeros that needs no memory.
type Endless struct{}

func (Endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }
