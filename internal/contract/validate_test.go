package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

const (
	computerJSON = `{"id":"8a4f5b1e-32a5-4a1c-9d57-0d6d0e5f7a11","name":"a","providerType":"managed-a","createdAt":1}`
	problem400   = `{"detail":"No.","status":400,"title":"Bad Request"}`
	wikiHistory  = "/api/v0/wiki/history/https%3A%2F%2Fgit.example%2Facme%2Fapp"
)

// response is what the handler behind the validation does.
type response struct {
	status int
	body   string
	header map[string]string
}

func (a response) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		panic(err)
	}
	if a.body != "" {
		w.Header().Set("Content-Type", "application/json")
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	if a.body == "" {
		return
	}
	if _, err := io.WriteString(w, a.body); err != nil {
		panic(err)
	}
}

// newRequest is one with a credential.
func newRequest(t *testing.T, method, target, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer key")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// exchange sends one request through the validation and returns what was reported.
func exchange(t *testing.T, next http.Handler, method, target, body string, header map[string]string) (violations []Violation, got *httptest.ResponseRecorder) {
	t.Helper()
	r := newRequest(t, method, target, body)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	got = httptest.NewRecorder()
	document(t).Handler(next, func(v Violation) { violations = append(violations, v) }).ServeHTTP(got, r)
	return violations, got
}

func TestHandlerChecksRequests(t *testing.T) {
	t.Parallel()
	const uuid = "8a4f5b1e-32a5-4a1c-9d57-0d6d0e5f7a11"
	created := response{status: 201, body: computerJSON}
	listed := response{status: 200, body: `{"computers":[]}`}
	for _, c := range []struct {
		name, method, target, body string
		header                     map[string]string
		next                       response
		want                       string // Part of the violation; empty if there is none.
	}{
		{"least body", post, "/api/v0/computers", `{"name":"a"}`, nil, created, ""},
		{"whole body", post, "/api/v0/computers", `{"name":"a","provider":"managed-a","remoteUser":"dev","repos":["https://git.example/acme/app"],"autoInstallDeps":true,"serviceAccountId":"sa_1",
			"source":{"kind":"execution-template","templateId":"t","isListed":false,"softwareDraft":{"workstreamId":"` + uuid + `","creationSessionId":"` + uuid + `","firstTurnId":"` + uuid + `"}}}`, nil, created, ""},
		{"unknown field", post, "/api/v0/computers", `{"name":"a","nmae":"b"}`, nil, created, "new field at "},
		{"missing field", post, "/api/v0/computers", `{}`, nil, created, "/name: expected"},
		{"no UUID", post, "/api/v0/computers", `{"name":"a","hostId":"h"}`, nil, created, "at /hostId"},
		{"no URI", post, "/api/v0/computers", `{"name":"a","repos":["acme/app"]}`, nil, created, "at /repos/*"},
		{"kind outside of the enum", post, "/api/v0/computers", `{"name":"a","source":{"kind":"clone"}}`, nil, created, "at /source"},
		{"field of another kind", post, "/api/v0/computers", `{"name":"a","source":{"kind":"computer","sourceComputerId":"c","templateId":"t"}}`, nil, created, "new field at "},
		{"body missing", post, "/api/v0/computers", "", nil, created, "expected a body, found none"},
		{"body of another type", post, "/api/v0/computers", `{"name":"a"}`, map[string]string{"Content-Type": "text/plain"}, created, "Content-Type"},
		{"body with a character set", post, "/api/v0/computers", `{"name":"a"}`, map[string]string{"Content-Type": "Application/JSON; charset"}, created, ""},
		{"body that is no JSON", post, "/api/v0/computers", `{"name"`, nil, created, "not JSON"},
		{"body that is two values", post, "/api/v0/computers", `{"name":"a"} {}`, nil, created, "not JSON"},
		{"body that is not UTF-8", post, "/api/v0/computers", "{\"name\":\"\xff\"}", nil, created, "not JSON"},
		{"no credential", get, "/api/v0/computers", "", map[string]string{"Authorization": ""}, listed, "header Authorization"},
		{"another credential", get, "/api/v0/computers", "", map[string]string{"Authorization": "Basic a2V5"}, listed, "header Authorization"},
		{"all query parameters", get, "/api/v0/computers?hostId=" + uuid + "&serviceAccountId=sa_1&includeProvisioningSteps=true&includeUnlisted=false", "", nil, listed, ""},
		{"empty service account", get, "/api/v0/computers?serviceAccountId=", "", nil, response{status: 400, body: problem400}, "serviceAccountId"},
		{"empty service account of environments", get, "/api/v0/environments?serviceAccountId=", "", nil, response{status: 400, body: problem400}, "serviceAccountId"},
		{"empty service account in a body", post, "/api/v0/computers", `{"name":"a","serviceAccountId":""}`, nil, response{status: 400, body: problem400}, "at /serviceAccountId"},
		{"unknown query parameter", get, "/api/v0/computers?page=2", "", nil, listed, "query page"},
		{"repeated query parameter", get, "/api/v0/computers?includeUnlisted=true&includeUnlisted=true", "", nil, listed, "expected one value, found several"},
		{"query that cannot be parsed", get, "/api/v0/computers?hostId=%zz", "", nil, listed, "at query: expected a query"},
		{"undeclared path", get, "/api/v0/machines", "", nil, response{status: 404, body: `{}`}, "no operation GET /api/v0/machines"},
		{"array in the query", get, "/api/v0/environments/build-statuses?environmentIds=a&environmentIds=b", "", nil, response{status: 200, body: `{"builds":[]}`}, ""},
		{"missing query parameter", get, "/api/v0/environments/build-statuses", "", nil, response{status: 200, body: `{"builds":[]}`}, "environmentIds"},
		{"page too large", get, "/api/v0/organization/users?limit=101", "", nil, response{status: 200, body: `{"users":[],"pagination":{"hasMore":false,"nextCursor":null}}`}, "limit"},
		{"optional body absent", post, "/api/v0/computers/c/restart", "", nil, response{status: 200, body: `{"wasRestarted":true}`}, ""},
		{"empty object where no body is declared", post, "/api/v0/computers/c/refresh", `{}`, nil, response{status: 200, body: `{"configured":0,"secretsConfigured":0}`}, ""},
		{"field where no body is declared", post, "/api/v0/computers/c/refresh", `{"mode":"resume"}`, nil, response{status: 400, body: problem400}, "new field at "},
		{"file name with two dots", post, "/api/v0/computers/c/files/..%2Fa/create-download", "", nil, response{status: 400, body: problem400}, "fileName"},
		{"file name of two dots", post, "/api/v0/computers/c/files/%2E%2E/create-download", "", nil, response{status: 400, body: problem400}, "fileName"},
		{"file name with dots", post, "/api/v0/computers/c/files/.a.b./create-download", "", nil, response{status: 200, body: `{"url":"https://files.example/a","expiresAt":1}`}, ""},
		{"setting that an update cannot have", patch, "/api/v0/sessions/s", `{"sessionSettings":{"toolExecutionMode":"direct_only"}}`, nil, response{status: 200, body: `{"sessionId":"s","status":"idle","messageCount":0,"createdAt":1,"updatedAt":1}`}, "toolExecutionMode"},
		{"blank system prompt", post, "/api/v0/sessions", `{"computerId":"c","systemPrompt":"  "}`, nil, response{status: 201, body: `{"sessionId":"s","status":"idle","messageCount":0,"createdAt":1,"updatedAt":1}`}, "at /systemPrompt"},
		{"compaction model", post, "/api/v0/sessions", `{"computerId":"c","sessionSettings":{"compactionModel":"custom:"}}`, nil, response{status: 201, body: `{"sessionId":"s","status":"idle","messageCount":0,"createdAt":1,"updatedAt":1}`}, "compactionModel"},
		{"time", get, "/api/v0/computers/c/metrics?start=2026-02-28T12:00:00.5%2B01:00", "", nil, response{status: 200, body: `[]`}, ""},
		{"time that does not exist", get, "/api/v0/computers/c/metrics?start=2026-02-29T12:00:00Z", "", nil, response{status: 400, body: problem400}, "start"},
		{"date that does not exist", get, "/api/v1/analytics/productivity?startDate=2026-02-01&endDate=2026-02-29", "", nil, response{status: 200, body: `{"data":[],"meta":{"org_id":"o","start_date":"2026-02-01","end_date":"2026-02-02"}}`}, "endDate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			violations, got := exchange(t, c.next, c.method, c.target, c.body, c.header)
			checkViolation(t, violations, Request, c.next.status, c.want)
			if got.Code != c.next.status || got.Body.String() != c.next.body {
				t.Errorf("the answer was changed to %d %q", got.Code, got.Body)
			}
		})
	}
}

func checkViolation(t *testing.T, violations []Violation, side Side, status int, want string) {
	t.Helper()
	switch {
	case want == "" && len(violations) == 0:
	case want == "" || len(violations) != 1:
		t.Errorf("got %v, want %q", violations, want)
	case violations[0].Side != side || violations[0].Status != status:
		t.Errorf("got a violation by the %s with status %d, want by the %s with %d", violations[0].Side, violations[0].Status, side, status)
	case !strings.Contains(violations[0].Err.Error(), want):
		t.Errorf("got %q, want %q in it", violations[0].Err, want)
	}
}

func TestHandlerChecksAnswers(t *testing.T) {
	t.Parallel()
	computer := func(fields string) string { return strings.TrimSuffix(computerJSON, "}") + "," + fields + "}" }
	const (
		one     = "/api/v0/computers/c"
		export  = "/api/v0/wiki/w/export"
		tokens  = "/api/v1/analytics/tokens?startDate=2026-02-01&endDate=2026-02-02"
		meta    = `"meta":{"org_id":"o","start_date":"2026-02-01","end_date":"2026-02-02"}`
		history = "/api/v0/organization/enterprise-controls/history"
		change  = `{"changes":[{"revision":1,"settings":{"maxAutonomyLevel":"low","new":1},"user":{"id":"u","email":null,"name":null},"updatedAt":"2026-02-01T10:00:00Z"}],"pagination":{"hasMore":false,"nextCursor":null}}`
	)
	for _, c := range []struct {
		name, method, target string
		next                 response
		want                 string // Part of the violation; empty if there is none.
	}{
		{"record", get, one, response{status: 200, body: computer(`"hostname":"h","status":"active","computerSource":{"kind":"template","templateId":"t"}`)}, ""},
		{"unknown field", get, one, response{status: 200, body: computer(`"colour":"red"`)}, "new field at "},
		{"missing field", get, one, response{status: 200, body: `{"id":"8a4f5b1e-32a5-4a1c-9d57-0d6d0e5f7a11","name":"a","createdAt":1}`}, "/providerType: expected"},
		{"value outside of the enum", get, one, response{status: 200, body: computer(`"status":"asleep"`)}, "at /status"},
		{"null where none belongs", get, one, response{status: 200, body: computer(`"hostname":null`)}, "at /hostname"},
		{"undeclared status", get, one, response{status: 418, body: `{}`}, "status: expected 200, 400"},
		{"body missing", get, one, response{status: 200}, "found an empty body"},
		{"body of another type", get, one, response{status: 200, body: computerJSON, header: map[string]string{"Content-Type": "text/html"}}, "Content-Type"},
		{"body cut off", get, one, response{status: 200, body: computerJSON[:20]}, "not JSON"},
		{"no content", remove, one, response{status: 204}, ""},
		{"error", get, one, response{status: 404, body: `{"detail":"None.","status":404,"title":"Not Found","metadata":{"a":1}}`}, ""},
		{"Retry-After that is no number", get, one, response{status: 429, body: `{"detail":"Slow.","status":429,"title":"Too Many Requests"}`, header: map[string]string{"Retry-After": "soon"}}, "Retry-After"},
		{"error without a detail", get, one, response{status: 404, body: `{"status":404,"title":"Not Found"}`}, "/detail: expected"},
		{"error with a list", get, one, response{status: 400, body: `{"status":400,"title":"Bad Request","errors":[{"message":"No."}]}`, header: map[string]string{RuleHeader: "nul-character"}}, ""},
		{"analytics error", get, tokens, response{status: 403, body: `{"title":"Forbidden","detail":"No.","status":403,"requestId":"req_1"}`}, ""},
		{"error of the other API version", get, tokens, response{status: 403, body: `{"title":"Forbidden","detail":"No.","status":403}`}, "/requestId: expected"},
		{"analytics row", get, tokens, response{status: 200, body: `{"data":[{"date":"2026-02-01","billable_tokens":1,"input_tokens":1,"output_tokens":1,"cache_read_tokens":0,"cache_write_tokens":0,"by_model":[],"by_user":[]}],` + meta + `}`}, ""},
		{"neither row", get, tokens, response{status: 200, body: `{"data":[{"date":"2026-02-01","group_key":"m"}],` + meta + `}`}, "at /data/*"},
		{"settings are open", get, history, response{status: 200, body: change}, ""},
		{"known settings have types", get, history, response{status: 200, body: strings.Replace(change, `"low"`, `"lowest"`, 1)}, "at /changes/*/settings/maxAutonomyLevel"},
		{"archive", get, export, response{status: 200, body: "PK\x05\x06" + strings.Repeat("\x00", 18), header: map[string]string{"Content-Type": "application/zip"}}, ""},
		{"redirect to the archive", get, export, response{status: 302, header: map[string]string{"Location": "https://files.example/a"}}, ""},
		{"redirect to nowhere", get, export, response{status: 302}, "Location"},
		{"escaped path", get, wikiHistory, response{status: 200, body: `{"runs":[]}`}, "/wikiRuns: expected"},
		{"programmed fault", get, one, response{status: 418, body: "<html>", header: map[string]string{FaultHeader: "non-json"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			violations, got := exchange(t, c.next, c.method, c.target, "", nil)
			checkViolation(t, violations, Response, c.next.status, c.want)
			if got.Code != c.next.status || got.Body.String() != c.next.body {
				t.Errorf("the answer was changed to %d %q", got.Code, got.Body)
			}
		})
	}
}

func TestViolationNamesTheRequest(t *testing.T) {
	t.Parallel()
	violations, _ := exchange(t, response{status: 400, body: problem400}, get, wikiHistory+"?page=1", "", nil)
	if len(violations) != 1 {
		t.Fatalf("got %v, want one violation", violations)
	}
	v := violations[0]
	if v.Operation != "getWikiHistory" || v.Method != get || v.Path != wikiHistory || v.Status != 400 {
		t.Errorf("got %+v", v)
	}
}

// Values of bodies may be keys; an error may say where they stand, not what they are.
func TestViolationsHoldNoValues(t *testing.T) {
	t.Parallel()
	const secret = "top-secret"
	for _, body := range []string{
		`{"apiKey":{"id":"k","value":"` + secret + `","fingerprint":1,"name":"n"}}`,
		`{"apiKey":{"id":"k","value":["` + secret + `"],"fingerprint":"f","name":"n"}}`,
		`{"apiKey":"` + secret + `"}`,
	} {
		violations, _ := exchange(t, response{status: 201, body: body}, post, "/api/v0/service-accounts/sa_1/api-keys", `{"name":"n","expiresAt":"`+secret+`"}`, nil)
		if len(violations) != 2 {
			t.Errorf("%s: got %v, want a violation of each side", body, violations)
		}
		for _, v := range violations {
			check.Lacks(t, v.Err.Error(), secret)
		}
	}
}
