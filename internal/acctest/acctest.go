// Package acctest contains what every acceptance test needs: an emulator of its own, provider factories that use it, checks,
// and drivers for features that the acceptance library lacks.
package acctest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// Start is the initial time of every fake clock.
var Start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Env is a test's emulator and a provider that uses it.
type Env struct {
	*emulator.Emulator
	// Clock is the clock of both the emulator and the provider.
	Clock *clock.Fake
	// Factories serve the provider to the CLI.
	Factories map[string]func() (tfprotov6.ProviderServer, error)

	t       testing.TB
	options []Option
}

// Option changes the emulator of an Env.
type Option func(*emulator.Options)

// New starts an emulator with a fake clock. Every request and response is validated against the contract. The emulator is
// closed when the test ends.
func New(t testing.TB, options ...Option) *Env {
	t.Helper()
	return newAt(t, Start, options)
}

// Copy is New with the options, the objects, and the time of e.
func (e *Env) Copy(t testing.TB, more ...Option) *Env {
	t.Helper()
	return newAt(t, e.Clock.Now(), slices.Concat(e.options, []Option{func(o *emulator.Options) { o.CopyOf = e.Emulator }}, more))
}

func newAt(t testing.TB, now time.Time, options []Option) *Env {
	t.Helper()
	clk := clock.NewFake(now)
	e := &Env{Clock: clk, t: t, options: options}
	e.Emulator = start(t, clk, options)
	e.Factories = map[string]func() (tfprotov6.ProviderServer, error){
		"agentyard": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("test", shadowed(t, clk, nil)...) },
	}
	return e
}

// NewRealTime is New with the system clock. It is for tests that run the provider as a separate process, or that wait for
// several things at once: on a fake clock, each wait also moves the time for all others.
func NewRealTime(t testing.TB, options ...Option) *Env {
	t.Helper()
	return &Env{Emulator: start(t, clock.System, options), t: t}
}

// Wrap adds a layer around the layers from previous options.
func Wrap(layer func(next http.Handler) http.Handler) Option {
	return func(opts *emulator.Options) {
		inner := opts.Wrap
		opts.Wrap = func(next http.Handler) http.Handler {
			if inner != nil {
				next = inner(next)
			}
			return layer(next)
		}
	}
}

func start(t testing.TB, clk clock.Clock, options []Option) *emulator.Emulator {
	t.Helper()
	document, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	opts := emulator.Options{Clock: clk, MaxPageSize: 2, ShuffleLists: true}
	for _, option := range options {
		option(&opts)
	}
	Wrap(func(next http.Handler) http.Handler {
		handler := document.Handler(next, func(v contract.Violation) {
			t.Errorf("contract: %s of %s %s (%s, status %d): %v", v.Side, v.Method, v.Path, v.Operation, v.Status, v.Err)
		})
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if fromProvider(r) {
				recordDriven(t, document, r)
			}
			handler.ServeHTTP(w, r)
		})
	})(&opts)
	e, err := emulator.Start(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("closing the emulator: %v", err)
		}
	})
	return e
}

// Now returns the time of the emulator and the provider.
func (e *Env) Now() time.Time {
	if e.Clock == nil {
		return clock.System.Now()
	}
	return e.Clock.Now()
}

// Config adds a provider block for this emulator to a configuration.
func (e *Env) Config(hcl string) string {
	return ConfigAt(e.URL(), e.BootstrapKey(), hcl)
}

// API sends a request to the emulator with the bootstrap key, as a change outside Terraform. It fails the test unless the
// status is 2xx, and decodes the response into out unless out is nil.
func (e *Env) API(method, path string, body, out any) {
	e.t.Helper()
	status, response := e.Try(method, path, body)
	if status >= 300 {
		e.t.Fatalf("%s %s returned %d: %s", method, path, status, response)
	}
	if out != nil {
		if err := json.Unmarshal(response, out); err != nil {
			e.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
}

// Pages returns the response of a GET, and those of the pages that follow it.
func (e *Env) Pages(path string) []json.RawMessage {
	e.t.Helper()
	target, err := url.Parse(path)
	check.Must(e.t, err)
	var pages []json.RawMessage
	for {
		var page json.RawMessage
		e.API(http.MethodGet, target.String(), nil, &page)
		pages = append(pages, page)
		var next struct{ Pagination struct{ NextCursor string } }
		check.Must(e.t, json.Unmarshal(page, &next))
		if next.Pagination.NextCursor == "" {
			return pages
		}
		query := target.Query()
		query.Set("cursor", next.Pagination.NextCursor)
		target.RawQuery = query.Encode()
	}
}

// Try is API for requests that may fail.
func (e *Env) Try(method, path string, body any) (int, []byte) {
	e.t.Helper()
	return e.TryWithKey(e.BootstrapKey(), method, path, body)
}

// TryWithKey is Try with a different API key.
func (e *Env) TryWithKey(key, method, path string, body any) (int, []byte) {
	e.t.Helper()
	var payload io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			e.t.Fatal(err)
		}
		payload = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, e.URL()+path, payload)
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	response, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return resp.StatusCode, response
}

// Slow skips a slow test in short mode. The test's name must end in _slow, so that `make test-slow` finds it.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: `make test-slow` runs it") //nolint:forbidigo // They run there.
	}
}
