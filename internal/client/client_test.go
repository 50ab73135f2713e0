package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

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

// serve answers the nth request, counted from 1, with handle.
func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, n int)) (*Client, *recorder, *clock.Fake) {
	t.Helper()
	rec := &recorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, rec.remember(r)) }))
	t.Cleanup(server.Close)
	clk := clock.NewFake(testStart)
	c, err := New(Config{BaseURL: server.URL, APIKey: testKey, MaxRetries: 3, Clock: clk, UserAgent: "test/1"})
	if err != nil {
		t.Fatal(err)
	}
	return c, rec, clk
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

// sendBulk sends a creation that may not be repeated, without the looks that come before and after it.
func sendBulk(ctx context.Context, c *Client) (*BulkCreateResult, error) {
	return call[BulkCreateResult](ctx, c, request{op: operation{name: "bulkCreateComputers", method: http.MethodPost, route: "/api/v0/computers/bulk"}, body: BulkCreateRequest{Quantity: 1, NamePrefix: "a"}})
}

func TestSend_repeatsOnlyWhatIsSafe(t *testing.T) {
	t.Parallel()
	fail := func(status int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { answerJSON(w, status, `{"detail":"no","status":1,"title":"x"}`) }
	}
	for name, tc := range map[string]struct {
		fault       func(http.ResponseWriter)
		get, create int // How often the request is sent.
	}{
		"400":       {fail(400), 1, 1},
		"401":       {fail(401), 1, 1},
		"404":       {fail(404), 1, 1},
		"409":       {fail(409), 1, 1},
		"500":       {fail(500), 4, 1},
		"501":       {fail(501), 1, 1},
		"502":       {fail(502), 4, 1},
		"503":       {fail(503), 4, 1},
		"504":       {fail(504), 4, 1},
		"dropped":   {drop, 4, 1},
		"truncated": {func(w http.ResponseWriter) { cut(w, 200) }, 4, 1},
		"HTML":      {func(w http.ResponseWriter) { answerJSON(w, 200, "<html>") }, 4, 1},
		"redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://elsewhere.example/")
			w.WriteHeader(302)
		}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.fault(w) })
			if _, err := c.ComputerAlone(t.Context(), "c1"); err == nil {
				t.Error("the read succeeded")
			}
			if got := rec.count(http.MethodGet); got != tc.get {
				t.Errorf("the read was sent %d times, want %d", got, tc.get)
			}
			if _, err := sendBulk(t.Context(), c); err == nil {
				t.Error("the creation succeeded")
			}
			if got := rec.count(http.MethodPost); got != tc.create {
				t.Errorf("the creation was sent %d times, want %d", got, tc.create)
			}
		})
	}
}

func TestSend_repeatsWhenNobodyListens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	clk := clock.NewFake(time.Now())
	c, err := New(Config{BaseURL: address, APIKey: testKey, MaxRetries: 3, Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sendBulk(t.Context(), c)
	var transport *TransportError
	if !errors.As(err, &transport) || !transport.Unsent {
		t.Errorf("got %v, want an unsent transport error", err)
	}
	if len(clk.Sleeps()) != 3 {
		t.Errorf("repeated %d times, want 3: the service surely did not act", len(clk.Sleeps()))
	}
}

func TestSend_recoversAfterAFault(t *testing.T) {
	t.Parallel()
	c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		switch n {
		case 1:
			cut(w, 200)
		case 2:
			drop(w)
		default:
			answerJSON(w, 200, `{"computer":{"id":"c1","name":"n","providerType":"byom","createdAt":1.7e12,"futureKey":[1]}}`)
		}
	})
	got, err := c.ComputerAlone(t.Context(), "c1")
	if err != nil || got.ID != "c1" || got.CreatedAt.Time().Year() != 2023 {
		t.Errorf("got %+v, %v", got, err)
	}
	if rec.count(http.MethodGet) != 3 {
		t.Errorf("sent %d times, want 3", rec.count(http.MethodGet))
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header map[string]string
		want   time.Duration // 0: a back-off of our own; -2: repeated at once; -1: not repeated.
	}{
		"seconds":           {map[string]string{"Retry-After": "7"}, 7 * time.Second},
		"date":              {map[string]string{"Retry-After": "Sun, 01 Mar 2026 00:00:09 GMT", "Date": "Sun, 01 Mar 2026 00:00:00 GMT"}, 9 * time.Second},
		"date, other clock": {map[string]string{"Retry-After": "Sun, 01 Mar 2026 05:00:09 GMT", "Date": "Sun, 01 Mar 2026 05:00:00 GMT"}, 9 * time.Second},
		"past date":         {map[string]string{"Retry-After": "Sun, 01 Mar 2020 00:00:09 GMT", "Date": "Sun, 01 Mar 2026 00:00:00 GMT"}, -2},
		"nonsense":          {map[string]string{"Retry-After": "soon"}, 0},
		"too long":          {map[string]string{"Retry-After": "86400"}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				for key, value := range tc.header {
					w.Header().Set(key, value)
				}
				if n == 1 {
					answerJSON(w, 503, `{"detail":"slow down","status":503,"title":"x"}`)
					return
				}
				answerJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
			})
			_, err := c.ComputerAlone(t.Context(), "c1")
			sleeps := clk.Sleeps()
			switch {
			case tc.want == -1:
				if StatusOf(err) != 503 || rec.count(http.MethodGet) != 1 {
					t.Errorf("got %v after %d requests, want the 503 at once", err, rec.count(http.MethodGet))
				}
			case tc.want == -2:
				if err != nil || len(sleeps) != 0 {
					t.Errorf("got %v, slept %v", err, sleeps)
				}
			case err != nil || len(sleeps) != 1:
				t.Errorf("got %v, slept %v", err, sleeps)
			case tc.want > 0 && sleeps[0] != tc.want, tc.want == 0 && (sleeps[0] < minBackoff/2 || sleeps[0] > minBackoff):
				t.Errorf("slept %v, want %v", sleeps, tc.want)
			}
		})
	}
}

func TestBackoff_growsAndIsBounded(t *testing.T) {
	t.Parallel()
	for _, random := range []float64{0, 0.5, 0.999} {
		p := &retryPolicy{random: func() float64 { return random }}
		before := time.Duration(0)
		for failed := range 40 {
			d := p.backoff(failed)
			if d < before || d > maxBackoff || d < minBackoff/2 {
				t.Errorf("random %v: pause %d is %v after %v", random, failed, d, before)
			}
			before = d
		}
		if before < maxBackoff/2 {
			t.Errorf("the pause stops growing at %v", before)
		}
	}
}

func TestKey_staysWithTheOrigin(t *testing.T) {
	t.Parallel()
	var elsewhere recorder
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere.remember(r) }))
	defer other.Close()
	c, _, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("the request carries %q", r.Header.Get("Authorization"))
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := c.ComputerAlone(t.Context(), "c1")
	if StatusOf(err) != 307 || !strings.Contains(err.Error(), "base_url") {
		t.Errorf("got %v", err)
	}
	if len(elsewhere.requests) > 0 {
		t.Error("the redirect was followed")
	}
}

func TestPathValues_stayInTheirPlace(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"../x":       "/api/v0/computers/name/..%2Fx",
		"a/b":        "/api/v0/computers/name/a%2Fb",
		"a?b#c":      "/api/v0/computers/name/a%3Fb%23c",
		"{name}":     "/api/v0/computers/name/%7Bname%7D",
		"ü 100%":     "/api/v0/computers/name/%C3%BC%20100%25",
		"..":         "",
		".":          "",
		"":           "",
		"x\ny":       "/api/v0/computers/name/x%0Ay",
		"a;b":        "/api/v0/computers/name/a%3Bb",
		"%2e%2e%2fx": "/api/v0/computers/name/%252e%252e%252fx",
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				answerJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
			})
			_, err := c.ComputerByName(t.Context(), value, "")
			if want == "" {
				if err == nil || len(rec.requests) > 0 {
					t.Errorf("got %v after %d requests, want a refusal", err, len(rec.requests))
				}
				return
			}
			if err != nil || rec.requests[0].URL.EscapedPath() != want {
				t.Errorf("got %v, %s, want %s", err, rec.requests[0].URL.EscapedPath(), want)
			}
		})
	}
}

func TestParseBaseURL(t *testing.T) {
	t.Parallel()
	for raw, wantOK := range map[string]bool{
		"https://api.agentyard.example":        true,
		"https://api.agentyard.example/":       true,
		"https://proxy.example/agentyard":      true,
		"http://127.0.0.1:8787":                true,
		"http://[::1]:8787":                    true,
		"http://localhost:1":                   true,
		"http://api.agentyard.example":         false,
		"http://127.0.0.1.agentyard.example":   false,
		"http://localhost.agentyard.example":   false,
		"http://10.0.0.1":                      false,
		"":                                     false,
		"api.agentyard.example":                false,
		"ftp://api.agentyard.example":          false,
		"https://":                             false,
		"https://u:p@api.agentyard.example":    false,
		"https://api.agentyard.example?x=1":    false,
		"https://api.agentyard.example/api/v0": false,
		"://":                                  false,
	} {
		_, err := ParseBaseURL(raw, false)
		if (err == nil) != wantOK {
			t.Errorf("%q: got %v", raw, err)
		}
		var setting *ConfigError
		if err != nil && (!errors.As(err, &setting) || setting.Setting != "base_url") {
			t.Errorf("%q: the error %v does not name the setting", raw, err)
		}
	}
	if _, err := ParseBaseURL("http://api.agentyard.example", true); err != nil {
		t.Errorf("allowed plain http: %v", err)
	}
	for _, key := range []string{"", "fk-x y", "fk-x\n", "fk-ü"} {
		if err := CheckAPIKey(key); err == nil || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("%q: got %v", key, err)
		}
	}
}

func TestAPIError_readsEveryForm(t *testing.T) {
	t.Parallel()
	for body, tc := range map[string]struct {
		detail      string
		fromService bool
	}{
		`{"detail":"the name is taken","status":409,"title":"Conflict"}`:                  {"the name is taken", true},
		`{"title":"Bad Request","status":400,"errors":[{"message":"a"},{"message":"b"}]}`: {"a; b", true},
		`{"title":"Bad Request","errors":["a",{"message":"b"},{"code":3},4]}`:             {"a; b", true},
		`{"title":"Conflict","status":409}`:                                               {"Conflict", true},
		`{"error":"old form"}`:                                                            {"old form", true},
		`{"title":"t","detail":"d","status":409,"requestId":"req_1"}`:                     {"d", true},
		`{"requestId":"req_1"}`:                                                           {"no explanation (Conflict)", true},
		`{"errors":[]}`:                                                                   {"no explanation (Conflict)", true},
		`{"detail":"x","status":"404","errors":{},"title":7,"error":[]}`:                  {"x", true},
		`{"detail":{"text":"x"},"title":"t"}`:                                             {"t", true},
		`{"detail":null}`:                                                                 {"no explanation (Conflict)", false},
		`{"error":{"code":1}}`:                                                            {"no explanation (Conflict)", false},
		`{"message":"no route"}`:                                                          {"no explanation (Conflict)", false},
		`{"errors":null}`:                                                                 {"no explanation (Conflict)", false},
		`{}`:                                                                              {"no explanation (Conflict)", false},
		`<html>`:                                                                          {"no explanation (Conflict)", false},
		``:                                                                                {"no explanation (Conflict)", false},
		`[]`:                                                                              {"no explanation (Conflict)", false},
		`"detail"`:                                                                        {"no explanation (Conflict)", false},
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answerJSON(w, 409, body) })
		_, err := c.ComputerAlone(t.Context(), "c1")
		var api *APIError
		if !errors.As(err, &api) || api.Detail != tc.detail || api.Operation != "getComputer" || api.Route != "/api/v0/computers/{computerId}" {
			t.Errorf("%s: got %#v", body, err)
		}
		if strings.Contains(body, "req_1") != strings.Contains(err.Error(), "req_1") {
			t.Errorf("%s: the request's ID: %v", body, err)
		}
		if api.FromService != tc.fromService || IsForeign(err) == tc.fromService || IsConflict(err) != tc.fromService {
			t.Errorf("%s: taken for the service's: %v, a conflict: %v", body, api.FromService, IsConflict(err))
		}
	}
}

func TestIsNotFound_believesOnlyTheService(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"detail":"no such computer","status":404,"title":"Not Found"}`:        true,
		`{"title":"Not Found","detail":"gone","status":404,"requestId":"req_"}`: true,
		`<html><head><title>404 Not Found</title></head></html>`:                false,
		`{"message":"no route"}`: false,
		`{}`:                     false,
		``:                       false,
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answerJSON(w, 404, body) })
		_, err := c.ComputerAlone(t.Context(), "c1")
		if StatusOf(err) != 404 || IsNotFound(err) != want || IsForeign(err) == want {
			t.Errorf("%q: got %v, not found: %v", body, err, IsNotFound(err))
		}
	}
	if IsForeign(errors.New("EOF")) || IsForeign(nil) || IsForeign(&TransportError{}) {
		t.Error("what is no answer counts as one of another server")
	}
}

func TestServiceTime_followsTheServicesClock(t *testing.T) {
	t.Parallel()
	c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		w.Header()["Date"] = map[int][]string{1: nil, 2: {"Sun, 01 Mar 2026 05:00:09 GMT"}, 3: {"Sun, 01 Mar 2026 05:00:07 GMT"}, 4: {"soon"}, 5: {"Sun, 01 Mar 2026 05:00:11 GMT"}}[n]
		if n == 5 {
			answerJSON(w, 404, `{"detail":"gone"}`)
			return
		}
		answerJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
	})
	second := func(s int) time.Time { return time.Date(2026, 3, 1, 5, 0, s, 0, time.UTC) }
	for n, want := range []struct{ at, latest time.Time }{{}, {second(9), second(9)}, {second(7), second(9)}, {time.Time{}, second(9)}} {
		got, err := c.exchange(t.Context(), request{op: operation{name: "getThing", method: http.MethodGet, route: "/thing"}}, wantJSON)
		if err != nil || got.status != 200 || !got.at.Equal(want.at) || !c.serviceTime().Equal(want.latest) {
			t.Errorf("answer %d: got %+v, %v, latest %v, want %v", n+1, got, err, c.serviceTime(), want)
		}
	}
	if _, err := c.ComputerAlone(t.Context(), "c1"); !IsNotFound(err) || !c.serviceTime().Equal(second(11)) {
		t.Errorf("after an error: %v, latest %v", err, c.serviceTime())
	}
}

func TestRequestsPerSecond(t *testing.T) {
	t.Parallel()
	c, _, clk := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		answerJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
	})
	limited, err := New(Config{BaseURL: c.base.String(), APIKey: testKey, RequestsPerSecond: 2, Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	start := clk.Now()
	for range 10 {
		if _, err := limited.ComputerAlone(t.Context(), "c1"); err != nil {
			t.Fatal(err)
		}
	}
	if elapsed := clk.Now().Sub(start); elapsed != 4*time.Second {
		t.Errorf("10 requests at 2 per second, the first two at once, took %v", elapsed)
	}
}

func TestLog_holdsNoSecret(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx := tflogtest.RootLogger(t.Context(), &log)
	c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			answerJSON(w, 500, fmt.Sprintf(`{"detail":%q,"status":500,"title":"x"}`, testKey))
			return
		}
		answerJSON(w, 200, `{"id":"c1","name":"in-the-body","providerType":"byom"}`)
	})
	if _, err := c.ComputerAlone(ctx, "c1"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "getComputer") {
		t.Fatalf("the request is not in the log: %s", log.String())
	}
	for _, secret := range []string{testKey, "in-the-body"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q is in the log: %s", secret, log.String())
		}
	}
}

func TestUnconfigured(t *testing.T) {
	t.Parallel()
	c := Unconfigured("base_url", clock.System)
	for n := range 2 {
		_, err := c.Computers(context.Background(), ComputerFilter{})
		var missing *UnconfiguredError
		if !errors.As(err, &missing) || missing.Setting != "base_url" || missing.First != (n == 0) {
			t.Errorf("call %d: got %#v", n, err)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	broken := errors.New("page three is broken")
	for name, tc := range map[string]struct {
		pages   map[string]page[int]
		want    string
		fetched int
	}{
		"two pages": {map[string]page[int]{"": {[]int{1, 2}, "a"}, "a": {[]int{3}, ""}}, "1 2 3 ", 2},
		"empty":     {map[string]page[int]{"": {}}, "", 1},
		"broken":    {map[string]page[int]{"": {[]int{1}, "a"}, "a": {[]int{2}, "b"}}, "1 2 page three is broken ", 3},
		"circle":    {map[string]page[int]{"": {[]int{1}, "a"}, "a": {[]int{2}, "a"}}, "1 2 ", 2},
		"long way":  {map[string]page[int]{"": {[]int{1}, "a"}, "a": {[]int{2}, "b"}, "b": {[]int{3}, "c"}, "c": {[]int{4}, "a"}}, "1 2 3 4 ", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fetched, got := 0, ""
			for item, err := range pages(t.Context(), func(_ context.Context, cursor string) (page[int], error) {
				fetched++
				p, ok := tc.pages[cursor]
				if !ok {
					return p, broken
				}
				return p, nil
			}) {
				if err != nil {
					got += err.Error() + " "
					continue
				}
				got += fmt.Sprint(item, " ")
			}
			if got != tc.want || fetched != tc.fetched {
				t.Errorf("got %q in %d requests, want %q in %d", got, fetched, tc.want, tc.fetched)
			}
		})
	}
	fetched := 0
	for item, err := range pages(t.Context(), func(context.Context, string) (page[int], error) {
		fetched++
		return page[int]{[]int{1, 2}, fmt.Sprint(fetched)}, nil
	}) {
		if item != 1 || err != nil {
			t.Errorf("got %d, %v", item, err)
		}
		break
	}
	if fetched != 1 {
		t.Errorf("a listing that is left after one item fetched %d pages", fetched)
	}
}
