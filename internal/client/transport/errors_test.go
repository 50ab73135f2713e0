package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

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
