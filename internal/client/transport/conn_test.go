package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// connected returns a connection with a configuration.
func connected(t testing.TB, cfg Config) *Conn {
	t.Helper()
	c, err := New(cfg)
	check.Must(t, err)
	return c
}

// serve returns a connection to a service that responds with handle.
func serve(t testing.TB, handle clienttest.Handler) (*Conn, *clienttest.Recorder, *clock.Fake) {
	t.Helper()
	address, rec := clienttest.Serve(t, handle)
	clk := clock.NewFake(clienttest.Start)
	return connected(t, Config{BaseURL: address, APIKey: clienttest.Key, MaxRetries: 3, Clock: clk, UserAgent: "test/1"}), rec, clk
}

// sample is an object for tests.
type sample struct {
	ID, Name, ProviderType string
	CreatedAt              wire.Millis
}

func (s *sample) Ref() wire.Ref { return wire.Ref{ID: s.ID, Name: s.Name} }

func (s *sample) MissingField() string {
	if s.Name == "" {
		return "name"
	}
	return ""
}

func getSample(ctx context.Context, c *Conn) (*sample, error) {
	return CallObject[sample](ctx, c, Get("getComputer", "/api/v0/computers/{computerId}", "c1"), "computer", "c1")
}

// createSamples sends a create request that is not repeatable.
func createSamples(ctx context.Context, c *Conn) error {
	_, err := Call[struct{}](ctx, c, Post("bulkCreateComputers", "/api/v0/computers/bulk").With(map[string]int{"quantity": 1}))
	return err
}

func TestSend_repeatsOnlyWhatIsSafe(t *testing.T) {
	t.Parallel()
	fail := func(status int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			clienttest.RespondJSON(w, status, `{"detail":"no","status":1,"title":"x"}`)
		}
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
		"dropped":   {clienttest.Drop, 4, 1},
		"truncated": {func(w http.ResponseWriter) { clienttest.Cut(w, 200) }, 4, 1},
		"HTML":      {func(w http.ResponseWriter) { clienttest.RespondJSON(w, 200, "<html>") }, 4, 1},
		"redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://elsewhere.example/")
			w.WriteHeader(302)
		}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.fault(w) })
			if _, err := getSample(t.Context(), c); err == nil {
				t.Error("the read succeeded")
			}
			rec.WantCount(t, http.MethodGet, tc.get)
			check.Fails(t, createSamples(t.Context(), c))
			rec.WantCount(t, http.MethodPost, tc.create)
		})
	}
}

func TestSend_recoversAfterAFault(t *testing.T) {
	t.Parallel()
	c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		switch n {
		case 1:
			clienttest.Cut(w, 200)
		case 2:
			clienttest.Drop(w)
		default:
			clienttest.RespondJSON(w, 200, `{"computer":{"id":"c1","name":"n","providerType":"byom","createdAt":1.7e12,"futureKey":[1]}}`)
		}
	})
	got, err := getSample(t.Context(), c)
	if err != nil || got.ID != "c1" || got.CreatedAt.Time().Year() != 2023 {
		t.Errorf("got %+v, %v", got, err)
	}
	rec.WantCount(t, http.MethodGet, 3)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header map[string]string
		want   time.Duration // 0: the client's own backoff; -2: retried immediately; -1: not retried.
	}{
		"seconds":           {map[string]string{"Retry-After": "7"}, 7 * time.Second},
		"a fraction":        {map[string]string{"Retry-After": "1.5"}, 1500 * time.Millisecond},
		"date":              {map[string]string{"Retry-After": "Sun, 01 Mar 2026 00:00:09 GMT", "Date": "Sun, 01 Mar 2026 00:00:00 GMT"}, 9 * time.Second},
		"date, other clock": {map[string]string{"Retry-After": "Sun, 01 Mar 2026 05:00:09 GMT", "Date": "Sun, 01 Mar 2026 05:00:00 GMT"}, 9 * time.Second},
		"past date":         {map[string]string{"Retry-After": "Sun, 01 Mar 2020 00:00:09 GMT", "Date": "Sun, 01 Mar 2026 00:00:00 GMT"}, -2},
		"nonsense":          {map[string]string{"Retry-After": "soon"}, 0},
		"nothing to wait":   {map[string]string{"Retry-After": "0"}, -2},
		"a negative time":   {map[string]string{"Retry-After": "-5"}, -2},
		"as long as may be": {map[string]string{"Retry-After": "300"}, 5 * time.Minute},
		"too long":          {map[string]string{"Retry-After": "301"}, -1},
		"far too long":      {map[string]string{"Retry-After": "99999999999"}, -1},
		"beyond a number":   {map[string]string{"Retry-After": "1e999"}, -1},
		"no number":         {map[string]string{"Retry-After": "NaN"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				for key, value := range tc.header {
					w.Header().Set(key, value)
				}
				if n == 1 {
					clienttest.RespondJSON(w, 503, `{"detail":"slow down","status":503,"title":"x"}`)
					return
				}
				clienttest.RespondJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
			})
			_, err := getSample(t.Context(), c)
			sleeps := clk.Sleeps()
			switch {
			case tc.want == -1:
				if StatusOf(err) != 503 || rec.Count(http.MethodGet) != 1 {
					t.Errorf("got %v after %d requests, want the 503 at once", err, rec.Count(http.MethodGet))
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

func TestRequest_saysWhoAsks(t *testing.T) {
	t.Parallel()
	c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		clienttest.RespondJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
	})
	if _, err := getSample(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	r := rec.Requests[0]
	if r.Header.Get("User-Agent") != "test/1" || r.Header.Get("Content-Type") != "" || r.Header.Get("Accept") != "application/json" || strings.Contains(r.RequestURI, "?") {
		t.Errorf("%s with the headers %v", r.RequestURI, r.Header)
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
		check.Is(t, fmt.Sprint("the first pause with random ", random), p.backoff(0), time.Duration((1+random)*float64(minBackoff/2)))
		check.Is(t, fmt.Sprint("the last pause with random ", random), before, time.Duration((1+random)*float64(maxBackoff/2)))
	}
}

func TestKey_staysWithTheOrigin(t *testing.T) {
	t.Parallel()
	var elsewhere clienttest.Recorder
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere.Remember(r) }))
	defer other.Close()
	c, _, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		check.Is(t, "the request carries", r.Header.Get("Authorization"), "Bearer "+clienttest.Key)
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := getSample(t.Context(), c)
	if StatusOf(err) != 307 || !strings.Contains(err.Error(), "base_url") {
		t.Errorf("got %v", err)
	}
	check.None(t, "requests after the redirect", elsewhere.Requests)
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
		"%2e%2e%2fx": "/api/v0/computers/name/%252e%252e%252fx",
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				clienttest.RespondJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
			})
			_, err := CallObject[sample](t.Context(), c, Get("getComputerByName", "/api/v0/computers/name/{name}", value), "", wire.AnyID)
			if want == "" {
				if err == nil || len(rec.Requests) > 0 {
					t.Errorf("got %v after %d requests, want a refusal", err, len(rec.Requests))
				}
				return
			}
			if err != nil || rec.Requests[0].URL.EscapedPath() != want {
				t.Errorf("got %v, %s, want %s", err, rec.Requests[0].URL.EscapedPath(), want)
			}
		})
	}
}

func TestTarget_takesAValueForEachPlaceholder(t *testing.T) {
	t.Parallel()
	c, _, _ := serve(t, nil)
	for want, r := range map[string]Request{
		"/a":       {Op: Operation{Route: "/a"}},
		"/a/1/b/2": {Op: Operation{Route: "/a/{x}/b/{y}"}, Path: []string{"1", "2"}},
		"/a/1?q=2": {Op: Operation{Route: "/a/{x}"}, Path: []string{"1"}, Query: url.Values{"q": {"2"}}},
		"more path values than placeholders in /a/{x}":                                                            {Op: Operation{Route: "/a/{x}"}, Path: []string{"1", "2"}},
		"a path value is missing for /a/{x}/{y}":                                                                  {Op: Operation{Route: "/a/{x}/{y}"}, Path: []string{"1"}},
		`do: ".." cannot be part of a request's path; correct the ID, or use the object's ID if this is its name`: {Op: Operation{Name: "do", Route: "/a/{x}"}, Path: []string{".."}},
	} {
		got, err := c.target(r)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
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
	check.Must(t, CheckAPIKey("!fk-~")) // The first and the last character that a key may have.
	for _, key := range []string{"", "fk-x y", "fk-x\n", "fk-ü", `"fk-x"`, "'fk-x'"} {
		if err := CheckAPIKey(key); err == nil || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("%q: got %v", key, err)
		}
	}
}

func TestSetIf(t *testing.T) {
	t.Parallel()
	q := url.Values{}
	SetIf(q, "a", "")
	SetIf(q, "b", "x")
	check.Is(t, "the query", q.Encode(), "b=x")
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"http://127.0.0.1:8787": true, "https://localhost": true, "https://api.agentyard.example": false, "://": false} {
		check.Is(t, address+" is this machine", IsLoopback(address), want)
	}
}

func TestServiceTime_followsTheServicesClock(t *testing.T) {
	t.Parallel()
	c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		w.Header()["Date"] = map[int][]string{1: nil, 2: {"Sun, 01 Mar 2026 05:00:09 GMT"}, 3: {"Sun, 01 Mar 2026 05:00:07 GMT"}, 4: {"soon"}, 5: {"Sun, 01 Mar 2026 05:00:11 GMT"}}[n]
		if n == 5 {
			clienttest.RespondJSON(w, 404, `{"detail":"gone"}`)
			return
		}
		clienttest.RespondJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
	})
	second := func(s int) time.Time { return time.Date(2026, 3, 1, 5, 0, s, 0, time.UTC) }
	for n, want := range []struct{ at, latest time.Time }{{}, {second(9), second(9)}, {second(7), second(9)}, {time.Time{}, second(9)}} {
		got, err := c.Exchange(t.Context(), Request{Op: Operation{Name: "getThing", Method: http.MethodGet, Route: "/thing"}}, OnlyJSON)
		if err != nil || !got.At.Equal(want.at) || !c.ServiceTime().Equal(want.latest) {
			t.Errorf("answer %d: got %+v, %v, latest %v, want %v", n+1, got, err, c.ServiceTime(), want)
		}
	}
	if _, err := getSample(t.Context(), c); !IsNotFound(err) || !c.ServiceTime().Equal(second(11)) {
		t.Errorf("after an error: %v, latest %v", err, c.ServiceTime())
	}
}

func TestServiceNow_countsFromTheServicesClock(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"Sun, 01 Mar 2026 00:15:00 GMT": 15*time.Minute - time.Second, "Sat, 28 Feb 2026 23:45:00 GMT": -15*time.Minute - time.Second, "Sat, 28 Feb 2026 23:59:59 GMT": 0, "soon": 0,
	} {
		c, rec, clk := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Date", text)
			clienttest.RespondJSON(w, 200, `{"providers":[]}`)
		})
		clk.Advance(700 * time.Millisecond) // The milliseconds remain those of this machine.
		for range 2 {                       // Only the first one sends a request.
			if ahead := c.ServiceNow(t.Context()).Sub(clk.Now()); ahead != want || rec.Count(http.MethodGet) != 1 {
				t.Errorf("%s: %v ahead, want %v, after %d requests", text, ahead, want, rec.Count(http.MethodGet))
			}
			clk.Advance(time.Hour)
		}
	}
}

// slowBody is a service whose clock is right, and whose bodies take long.
type slowBody struct {
	io.Reader
	clk *clock.Fake
}

func (s *slowBody) RoundTrip(*http.Request) (*http.Response, error) {
	header := http.Header{"Date": {s.clk.Now().Format(http.TimeFormat)}}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(&slowBody{strings.NewReader("{}"), s.clk})}, nil
}

func (s *slowBody) Read(p []byte) (int, error) {
	s.clk.Advance(30 * time.Second)
	return s.Reader.Read(p)
}

func TestServiceNow_isNotBehindAfterASlowBody(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(clienttest.Start)
	c := connected(t, Config{BaseURL: "https://api.agentyard.example", APIKey: "k", Clock: clk, Transport: &slowBody{clk: clk}})
	if got := c.ServiceNow(t.Context()); !got.Equal(clk.Now()) || got.Equal(clienttest.Start) {
		t.Errorf("%v instead of %v", got, clk.Now())
	}
}

func TestServiceTime_ignoresOtherServers(t *testing.T) {
	t.Parallel()
	ahead := clienttest.Start.Add(10 * time.Minute).Format(http.TimeFormat)
	for _, response := range []string{
		"200 <html>", `302 {"detail":"moved"}`, "403 <html>", `404 {"message":"no route"}`, `500 {"detail":"no"}`, "502 <html>",
		`502 {"error":"bad gateway"}`, `401 {"status":401,"error":"Unauthorized","path":"/thing"}`,
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n == 1 {
				clienttest.Say(w, "200 {}")
				return
			}
			w.Header().Set("Date", ahead)
			clienttest.Say(w, response)
		})
		for range 2 {
			_, _ = c.Exchange(t.Context(), aWrite, AnyBody)
		}
		if got := c.ServiceTime(); !got.Equal(clienttest.Start) {
			t.Errorf("after %s: %v", response, got)
		}
	}
}

func TestLog_holdsNoSecret(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx := tflogtest.RootLogger(t.Context(), &log)
	c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			clienttest.RespondJSON(w, 500, fmt.Sprintf(`{"detail":%q,"status":500,"title":"x"}`, clienttest.Key))
			return
		}
		clienttest.RespondJSON(w, 200, `{"id":"c1","name":"in-the-body","providerType":"byom"}`)
	})
	if _, err := getSample(ctx, c); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "getComputer") {
		t.Fatalf("the request is not in the log: %s", log.String())
	}
	check.Lacks(t, log.String(), clienttest.Key, "in-the-body")
}

func TestUnconfigured(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"base_url": "the provider's base_url is not known yet",
		"":         "the provider is not configured",
	} {
		_, err := getSample(t.Context(), NewUnconfigured(setting, clock.System))
		var missing *UnconfiguredError
		if !errors.As(err, &missing) || err.Error() != want {
			t.Errorf("got %#v", err)
		}
	}
}
