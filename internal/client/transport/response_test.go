package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// If the response to an update has no object, the object is read.
func TestPatchObject_readsBack(t *testing.T) {
	t.Parallel()
	const renamed = `{"id":"t1","name":"new"}`
	for name, tc := range map[string]struct {
		answer, stored string
		wantErr        string // Empty for success.
	}{
		"the object":              {answer: "200 " + renamed},
		"the object, wrapped":     {answer: `200 {"thing":` + renamed + `}`},
		"an ID in another case":   {answer: `200 {"id":"T1","name":"new"}`},
		"a refusal":               {answer: `409 {"detail":"no"}`, wantErr: "returned 409: no"},
		"nothing":                 {answer: "200 ", stored: renamed},
		"an empty object":         {answer: "200 {}", stored: `{"thing":` + renamed + `}`},
		"a page":                  {answer: "200 <html>", wantErr: "it may come from another server"},
		"nothing, and none again": {answer: "200 {}", stored: `{}`, wantErr: "read the object back"},
		"another object":          {answer: `200 {"id":"t2","name":"new"}`, wantErr: "it contains t2 instead of t1"},
		"no name":                 {answer: `200 {"id":"t1"}`, wantErr: "the field name is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c, rec, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.Method == http.MethodPatch {
					stop() // What was sent is read back after an interrupt too.
					clienttest.Say(w, tc.answer)
					return
				}
				clienttest.RespondJSON(w, 200, tc.stored)
			})
			read := func(ctx context.Context, id string) (*sample, error) {
				return CallObject[sample](ctx, c, aRead, "thing", id)
			}
			got, err := PatchObject(ctx, c, aChange, "thing", "t1", read)
			if (err == nil) != (tc.wantErr == "") || err == nil && got.Name != "new" {
				t.Errorf("got %+v, %v", got, err)
			}
			clienttest.WantText(t, err, tc.wantErr)
			reads := 0
			if tc.stored != "" {
				reads = 1
			}
			rec.WantCount(t, http.MethodGet, reads)
			if patches := rec.Count(http.MethodPatch); patches != 1 && name != "a page" {
				t.Errorf("%d updates", patches)
			}
		})
	}
}

func TestCallList(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`[{"id":"a","name":"n"}]`:                        "a",
		` [{"id":"a","name":"n"},{"id":"b","name":"n"}]`: "a b",
		`{"things":[{"id":"a","name":"n"}]}`:             "a",
		`{"things":null,"more":"x"}`:                     "",
		`{"things":[],"more":7}`:                         "unexpected response: the field more has the wrong type, number",
		`[]`:                                             "",
		`{"others":[]}`:                                  "unexpected response: the field things is missing",
		`{"things":7}`:                                   "unexpected response: it has the wrong type, number",
		`7`:                                              "unexpected response: it has the wrong type, number",
		`[{"id":"a","name":7}]`:                          "unexpected response: the field Name has the wrong type, number",
		`[{"id":"a","createdAt":"soon"}]`:                `unexpected response: "soon" is not a timestamp`,
		`[{"id":"a","name":"n"},{"name":"n"}]`:           "unexpected response: object 2 of the list is invalid: it has no ID",
		`[{"id":"a"}]`:                                   "unexpected response: object 1 of the list is invalid: the field name is missing",
		`<html>`:                                         "it may come from another server at base_url",
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 200, answer) })
		var envelope struct {
			More string `json:"more"`
		}
		objects, err := CallList[sample](t.Context(), c, aRead, "things", &envelope)
		var ids []string
		for _, object := range objects {
			ids = append(ids, object.ID)
		}
		got := strings.Join(ids, " ")
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasSuffix(got, want)) {
			t.Errorf("%s: got %q, want %q", answer, got, want)
		}
	}
}

// A response is read up to a limit, so that it cannot exhaust the memory.
func TestReadAnswer_isBounded(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{maxBody: "", maxBody + 1: "the response (status 200) is larger than 67108864 bytes"} {
		blank := io.NopCloser(bytes.NewReader(bytes.Repeat([]byte(" "), size)))
		body, err := ReadBody(&http.Response{StatusCode: 200, Body: blank}, EmptyOrJSON)
		if want == "" && (err != nil || len(body) != size) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d bytes: read %d, %v", size, len(body), err)
		}
	}
}

// A response that is too large is not requested again.
func TestExchange_tooLarge(t *testing.T) {
	t.Parallel()
	c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		_, _ = w.Write(bytes.Repeat([]byte(" "), maxBody+1))
	})
	_, err := c.Exchange(t.Context(), Request{Op: Operation{Name: "list", Method: http.MethodGet, Route: "/api/v0/things"}}, OnlyJSON)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	rec.WantCount(t, http.MethodGet, 1)
}

// The error for a page instead of JSON has its content type.
func TestExchange_describesAPage(t *testing.T) {
	t.Parallel()
	for want, kind := range map[string][]string{"status 200, text/html, 6 bytes": {"text/html"}, "status 200, no content type, 6 bytes": nil} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header()["Content-Type"] = kind
			_, _ = io.WriteString(w, "<html>")
		})
		_, err := getSample(t.Context(), c)
		check.Fails(t, err, want)
	}
}

// The last of the pauses ends with the patience.
func TestUntil(t *testing.T) {
	t.Parallel()
	for patience, want := range map[time.Duration]int{0: 1, 10 * time.Second: 4} {
		c, _, clk := serve(t, nil)
		sent, started := 0, clk.Now()
		err := c.Until(t.Context(), patience, 4*time.Second, IsConflict, func() error {
			sent++
			return &APIError{Status: http.StatusConflict, FromService: true}
		})
		if !IsConflict(err) || sent != want || clk.Now().Sub(started) != time.Duration(want/4)*10*time.Second {
			t.Errorf("patience %v: %v after %d requests", patience, err, sent)
		}
	}
	c, _, _ := serve(t, nil)
	check.Must(t, c.Until(t.Context(), 10*time.Second, time.Second, IsConflict, func() error { return nil }))
}

// Each process sends the check once, and it fails only if everything else would fail too.
func TestCheckAccess(t *testing.T) {
	t.Parallel()
	const problem = `{"detail":"no","title":"No"}`
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter)
		fails  bool
	}{
		"allowed":         {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusOK, `{"providers":[]}`) }, false},
		"a wrong key":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusUnauthorized, problem) }, true},
		"a wrong role":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusForbidden, problem) }, true},
		"a wrong tier":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusPaymentRequired, problem) }, true},
		"unavailable":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusServiceUnavailable, problem) }, false},
		"rate limited":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusTooManyRequests, problem) }, false},
		"a wrong address": {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotFound, `<html>`) }, true},
		"no connection":   {clienttest.Drop, true},
		"a wrong path":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotFound, problem) }, true},
		"not offered":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotImplemented, problem) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.answer(w) })
			check.Is(t, "the access is refused", c.CheckAccess(t.Context()) != nil, tc.fails)
			sent := rec.Count(http.MethodGet)
			if err := c.CheckAccess(t.Context()); err != nil || rec.Count(http.MethodGet) != sent {
				t.Errorf("the second plan: %v, %d requests", err, rec.Count(http.MethodGet))
			}
		})
	}
	check.Must(t, NewUnconfigured("base_url", clock.System).CheckAccess(t.Context()))
}

// Each creation asks, so the providers are requested once per process, even if that fails.
func TestProviders_onceEvenIfRefused(t *testing.T) {
	t.Parallel()
	c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		clienttest.RespondJSON(w, http.StatusForbidden, `{"detail":"no","title":"No"}`)
	})
	for range 2 {
		if _, err := c.Providers(t.Context()); StatusOf(err) != http.StatusForbidden || rec.Count(http.MethodGet) != 1 {
			t.Errorf("got %v after %d requests", err, rec.Count(http.MethodGet))
		}
	}
}

// neverAnswers accepts requests, counts them, and never responds.
type neverAnswers struct {
	requests int
	// begins sends a response without its body.
	begins bool
}

func (n *neverAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	n.requests++
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	if n.begins {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(untilDone{r.Context()})}, nil
	}
	return nil, untilDone{r.Context()}.wait()
}

// untilDone is an empty body that ends when its context is done.
type untilDone struct {
	context.Context //nolint:containedctx // The reader ends with it.
}

func (u untilDone) wait() error {
	<-u.Done()
	return u.Err()
}

func (u untilDone) Read([]byte) (int, error) { return 0, u.wait() }

// A slow operation is not cut off early, and not retried after its timeout. In a synctest bubble, the timeout expires only
// when everything else waits.
func TestExchange_slowOperations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op             Operation
		timeout, takes time.Duration
		requests       int
	}{
		"an edit":                           {Operation{Method: http.MethodPost, Slow: true}, time.Minute, 5 * time.Minute, 1},
		"an edit with a longer timeout":     {Operation{Method: http.MethodPost, Slow: true}, 8 * time.Minute, 8 * time.Minute, 1},
		"a forced scan":                     {Operation{Method: http.MethodGet, Slow: true}, time.Minute, 5 * time.Minute, 1},
		"a scan that an earlier one serves": {Operation{Method: http.MethodGet}, time.Minute, 4 * time.Minute, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: clienttest.Key, MaxRetries: 3, RequestTimeout: tc.timeout, Clock: clock.NewFake(clienttest.Start)})
				check.Must(t, err)
				service := &neverAnswers{}
				c.api.Transport = service
				started := time.Now()
				_, err = c.Exchange(t.Context(), Request{Op: tc.op}, OnlyJSON)
				var failure *TransportError
				if !errors.As(err, &failure) || failure.Timeout != "request_timeout" || failure.Unsent {
					t.Errorf("got %#v", err)
				}
				if took := time.Since(started).Round(time.Second); took != tc.takes || service.requests != tc.requests {
					t.Errorf("%d requests took %v", service.requests, took)
				}
			})
		})
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
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 409, body) })
		_, err := getSample(t.Context(), c)
		var api *APIError
		if !errors.As(err, &api) || api.Detail != tc.detail || api.Op.Name != "getComputer" || api.Op.Route != "/api/v0/computers/{computerId}" {
			t.Errorf("%s: got %#v", body, err)
		}
		check.Is(t, body+" has the request's ID", strings.Contains(body, "req_1"), strings.Contains(err.Error(), "req_1"))
		if api.FromService != tc.fromService || IsForeign(err) == tc.fromService || IsConflict(err) != tc.fromService {
			t.Errorf("%s: taken for the service's: %v, a conflict: %v", body, api.FromService, IsConflict(err))
		}
	}
}

// Only redirects are called redirects, and only if the response has no message.
func TestAPIError_tellsARedirect(t *testing.T) {
	t.Parallel()
	const redirect = "a redirect, which the provider does not follow because it sends the API key only to base_url; correct base_url"
	for name, tc := range map[string]struct {
		status         int
		location, body string
		want           string
	}{
		"the first of its kind": {300, "/x", "", redirect},
		"the last of its kind":  {399, "/x", "", redirect},
		"to nowhere":            {302, "", "", "no explanation (Found)"},
		"an error with a place": {400, "/x", "", "no explanation (Bad Request)"},
		"with a text":           {302, "/x", `{"detail":"moved"}`, "moved"},
		"an error with a text":  {400, "/x", `{"detail":"bad"}`, "bad"},
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			if tc.location != "" {
				w.Header().Set("Location", tc.location)
			}
			clienttest.RespondJSON(w, tc.status, tc.body)
		})
		_, err := getSample(t.Context(), c)
		var api *APIError
		if !errors.As(err, &api) || api.Detail != tc.want || api.FromService != (tc.want == "bad") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The page of another server says nothing about a request that must not be sent twice.
func TestIsAmbiguous_pagesOfOtherServers(t *testing.T) {
	t.Parallel()
	repeatable := aWrite
	repeatable.Op.Repeatable = true
	for _, status := range []int{200, 302, 400, 401, 403, 404, 407, 501, 502} {
		c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, status, "<html>") })
		_, err := c.Exchange(t.Context(), aWrite, OnlyJSON)
		if !IsAmbiguous(err) || rec.Count(http.MethodPost) != 1 {
			t.Errorf("%d: %v after %d requests", status, err, rec.Count(http.MethodPost))
		}
		if _, err := c.Exchange(t.Context(), repeatable, OnlyJSON); status > 300 && status < 500 && IsAmbiguous(err) {
			t.Errorf("%d: a request that can be repeated is ambiguous: %v", status, err)
		}
	}
}

// A gateway may give up while the service is working, and may return a status below 500 for that. A status that rejects a
// request proves that the service did not act.
func TestIsAmbiguous_answers(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{
		302: false, 400: false, 401: false, 403: false, 404: false, 405: false, 408: true, 409: false, 413: false, 422: false, 424: false, 429: false,
		460: true, 499: true, 500: true, 501: false, 502: true, 503: true, 504: true, 524: true,
	} {
		for _, fromService := range []bool{true, false} {
			for _, once := range []bool{true, false} {
				want := want || once && !fromService && status != http.StatusTooManyRequests && status != http.StatusRequestEntityTooLarge
				if got := IsAmbiguous(&APIError{Op: Operation{Method: "POST"}, Status: status, FromService: fromService, Once: once}); got != want {
					t.Errorf("%d, of the service %v, once %v: got %v", status, fromService, once, got)
				}
			}
		}
	}
}

func TestAPIError_showsMetadata(t *testing.T) {
	t.Parallel()
	for metadata, want := range map[string]string{
		`{}`: "taken (request r1)",
		`{"key":"` + clienttest.Key + `","headers":{"authorization":"x"}}`: `taken ({"key":"***"}) (request r1)`,
		`null`: "taken (request r1)",
		`[1]`:  "taken (request r1)",
		`{"used":5,"limit":{"of": "5"},"field":"na\n\u001b[31m  me"}`: `taken ({"field":"na\n\u001b[31m  me","used":5}) (request r1)`,
		`{"text":"` + strings.Repeat("é", 300) + `"}`:                 `taken ({"text":"` + strings.Repeat("é", 191) + "…) (request r1)",
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			clienttest.RespondJSON(w, 409, `{"detail":"taken.","status":409,"title":"t","requestId":"r1","metadata":`+metadata+`}`)
		})
		_, err := getSample(t.Context(), c)
		if !IsConflict(err) || !strings.HasSuffix(err.Error(), "returned 409: "+want) {
			t.Errorf("%s: %v", metadata, err)
		}
	}
}

func TestAPIError_masksTheKey(t *testing.T) {
	t.Parallel()
	c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		clienttest.RespondJSON(w, 409, `{"detail":"`+clienttest.Key+` is known","status":409,"title":"t"}`)
	})
	if _, err := getSample(t.Context(), c); err == nil || !strings.HasSuffix(err.Error(), "409: *** is known") {
		t.Error(err)
	}
}

// Go bypasses a proxy whose address it cannot parse, so New refuses it, without its password.
func TestNew_proxyThatIsNoURL(t *testing.T) {
	for address, want := range map[string]string{
		"proxy.example:3128": "", "http://u:p@proxy.example": "", "": "",
		"http://u:p%zz@proxy.example": "HTTPS_PROXY is not", "proxy.example:p": "HTTPS_PROXY is not", "http://u:p#@proxy.example": "HTTPS_PROXY is not",
	} {
		t.Setenv("https_proxy", address)
		t.Setenv("NO_PROXY", ".inside.example")
		for base, want := range map[string]string{"https://api.agentyard.example": want, "https://127.0.0.1": "", "https://api.inside.example": ""} {
			if _, err := New(Config{BaseURL: base, APIKey: clienttest.Key}); (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "u:p")) {
				t.Errorf("%s, proxy %q: %v", base, address, err)
			}
		}
	}
}

// A server that requires a client certificate did not act, and a retry would not help.
func TestExchange_clientCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	c, err := New(Config{BaseURL: server.URL, APIKey: clienttest.Key, MaxRetries: 3, Clock: clock.NewFake(clienttest.Start)})
	check.Must(t, err)
	c.api.Transport.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	if _, err = c.Exchange(t.Context(), aWrite, OnlyJSON); !isCertificateDemand(err) || IsAmbiguous(err) {
		t.Error(err)
	}
	const page = "No required SSL certificate was sent"
	for body, want := range map[string]string{page: CertificateRequired, `{"detail": "` + page + `"}`: page} {
		c, _, _ = serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 400, body) })
		if _, err := getSample(t.Context(), c); err == nil || !strings.HasSuffix(err.Error(), "400: "+want) {
			t.Error(err)
		}
	}
}

// A proxy that requires a login, or does not allow the host, rejects every connection.
func TestExchange_proxyRefusal(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]error{http.StatusProxyAuthRequired: ErrProxyLogin, http.StatusForbidden: ErrProxyRefused} {
		address, rec := clienttest.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(status) })
		proxy, err := url.Parse(address)
		check.Must(t, err)
		c, err := New(Config{BaseURL: "https://api.agentyard.example", APIKey: clienttest.Key, MaxRetries: 3, Clock: clock.NewFake(clienttest.Start)})
		check.Must(t, err)
		c.api.Transport.(*http.Transport).Proxy = http.ProxyURL(proxy)
		_, err = c.Exchange(t.Context(), aWrite, OnlyJSON)
		if !errors.Is(err, want) || IsAmbiguous(err) || len(rec.Requests) != 1 {
			t.Errorf("got %v after %d requests", err, len(rec.Requests))
		}
	}
}
