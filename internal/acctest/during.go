package acctest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Meanwhile calls do before each request of the provider whose method and path start with request, with the number of earlier
// ones.
func Meanwhile(request string, do func(n int)) Option {
	var seen atomic.Int64
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Method+" "+r.URL.Path, request) && fromProvider(r) {
				do(int(seen.Add(1)) - 1)
			}
			next.ServeHTTP(w, r)
		})
	})
}

// Sent contains the method and body of each request of the provider that changes something below Path.
type Sent struct {
	Path   string
	mu     sync.Mutex
	bodies []string
}

// Option makes the emulator note what is sent.
func (s *Sent) Option(o *emulator.Options) {
	Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, s.Path) && fromProvider(r) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					panic(http.ErrAbortHandler)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.mu.Lock()
				s.bodies = append(s.bodies, r.Method+" "+string(body))
				s.mu.Unlock()
			}
			next.ServeHTTP(w, r)
		})
	})(o)
}

// Take returns what was sent since the previous call.
func (s *Sent) Take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.bodies
	s.bodies = nil
	return taken
}

// Rewrite edits every object of a list, or the object itself, in the successful responses to requests of the provider below a path. They
// may then violate the contract.
func Rewrite(path, list string, edit func(r *http.Request, object map[string]any)) Option {
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, path) || !fromProvider(r) {
				next.ServeHTTP(w, r)
				return
			}
			answer, body := httptest.NewRecorder(), map[string]any{}
			next.ServeHTTP(answer, r)
			content := answer.Body.Bytes()
			if answer.Code < 300 && json.Unmarshal(content, &body) == nil {
				listed, isList := body[list].([]any)
				if !isList {
					edit(r, body)
				}
				for _, one := range listed {
					if object, ok := one.(map[string]any); ok {
						edit(r, object)
					}
				}
				content, _ = json.Marshal(body)
			}
			for name, values := range answer.Header() {
				if name != "Content-Length" {
					w.Header()[name] = values
				}
			}
			w.Header().Set(emulator.FaultHeader, "rewritten")
			w.WriteHeader(answer.Code)
			_, _ = w.Write(content)
		})
	})
}

// Together calls do for each number below n, with limited parallelism, and waits for all calls.
func Together(n, parallelism int, do func(k int)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, parallelism)
	for k := range n {
		slots <- struct{}{}
		running.Go(func() {
			do(k)
			<-slots
		})
	}
	running.Wait()
}

func fromProvider(r *http.Request) bool {
	return strings.HasPrefix(r.UserAgent(), "terraform-provider-agentyard/")
}
