package trials

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// exchange is a request and the answer that a deviating server changes.
type exchange struct {
	sent   object // The body of the request.
	query  string
	status int
	body   object
	count  int // The requests so far of the deviation's kind, with this one.
}

// list is a field of the answer that is a list.
func (e *exchange) list(field string) []any {
	list, _ := e.body[field].([]any)
	return list
}

// on changes the answers to one kind of request. The pattern is that of path.Match.
func on(method, pattern string, change func(e *exchange)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		count := map[string]int{}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if matches, _ := path.Match("/api/v0"+pattern, r.URL.EscapedPath()); !matches || r.Method != method {
				next.ServeHTTP(w, r)
				return
			}
			count[r.URL.Path]++
			sent, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(sent))
			answered := httptest.NewRecorder()
			next.ServeHTTP(answered, r)
			e := &exchange{query: r.URL.RawQuery, status: answered.Code, count: count[r.URL.Path]}
			_ = json.Unmarshal(sent, &e.sent)
			_ = json.Unmarshal(answered.Body.Bytes(), &e.body)
			before := e.status
			change(e)
			if before < 300 && e.status >= 400 || e.body == nil {
				e.body = object{"title": "No", "detail": "No.", "status": e.status}
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(e.status)
			if e.status == 204 {
				return
			}
			_ = json.NewEncoder(w).Encode(e.body)
		})
	}
}

// instead replaces one status by another.
func instead(of, by int) func(e *exchange) {
	return func(e *exchange) {
		if e.status == of {
			e.status = by
		}
	}
}

func reversed(field string) func(e *exchange) {
	return func(e *exchange) { slices.Reverse(e.list(field)) }
}

// each changes the objects of a list.
func each(field string, change func(o object)) func(e *exchange) {
	return func(e *exchange) {
		for _, row := range evidence.RowsOf(e.list(field), "") {
			change(row)
		}
	}
}

// TestTrials_deviations checks that a trial notices a server that does otherwise than assumed. Nothing but its rule is refuted, unless
// others say the same.
func TestTrials_deviations(t *testing.T) {
	t.Parallel()
	for rule, tc := range map[string]struct {
		wrap func(http.Handler) http.Handler
		also []string
	}{
		// Orders.
		"list-environments": {wrap: on("GET", "/environments", reversed("environments"))},
		"list-computers":    {wrap: on("GET", "/computers", reversed("computers"))},
		"list-members":      {wrap: on("GET", "/organization/users", reversed("users"))},
		"list-sessions":     {wrap: on("GET", "/sessions", reversed("sessions"))},
		"list-enterprise-control-history": {wrap: on("GET", "/organization/enterprise-controls/history", func(e *exchange) {
			e.body["changes"] = []any{map[string]any{"revision": 1}, map[string]any{"revision": 2}}
		})},
		"list-session-messages": {wrap: on("GET", "/sessions/*/messages", reversed("messages")), also: []string{"message-seq"}},
		"get-wiki-history-200":  {wrap: on("GET", "/wiki/history/*", reversed("wikiRuns"))},
		"search-wiki-run":       {wrap: on("GET", "/wiki/*/search", reversed("results"))},

		// Uniqueness and states.
		"create-environment": {wrap: on("POST", "/environments", func(e *exchange) {
			if e.status == 409 {
				e.status, e.body = 201, object{"id": "a-namesake"}
			}
		})},
		"create-service-account": {wrap: on("POST", "/service-accounts", func(e *exchange) {
			if e.status == 409 {
				e.status, e.body = 201, object{"id": "a-namesake"}
			}
		})},
		"body-nothing": {wrap: on("POST", "/service-accounts/*/api-keys/*/revoke", func(e *exchange) {
			if e.sent == nil {
				e.status = 400
			}
		})},
		"rotate-api-key":           {wrap: on("POST", "/service-accounts/*/api-keys/*/rotate", instead(409, 404))},
		"cancel-environment-build": {wrap: on("POST", "/environments/*/builds/*/cancel", instead(409, 200))},
		"create-environment-build": {wrap: on("POST", "/environments/*/builds", instead(409, 200))},
		"delete-environment":       {wrap: on("DELETE", "/environments/*", instead(409, 400))},
		"update-environment": {wrap: on("PATCH", "/environments/*", func(e *exchange) {
			if e.status == 200 {
				e.body["buildId"] = "always"
			}
		})},
		"environment-status":    {wrap: on("GET", "/environments", each("environments", func(o object) { o["status"] = "ready" }))},
		"build-finished-at":     {wrap: on("GET", "/environments", each("environments", func(o object) { o.Object("latestBuild")["finishedAt"] = 1 }))},
		"get-user-usage-limits": {wrap: on("GET", "/organization/usage/limits/users", func(e *exchange) { e.body["userLimits"] = []any{} })},
		"message-seq":           {wrap: on("GET", "/sessions/*/messages", each("messages", func(o object) { o["seq"] = o.Number("seq") - 1 }))},

		// Bounds and refusals.
		"computer-name": {wrap: on("POST", "/computers", func(e *exchange) {
			if len(e.sent.Text("name")) == 64 {
				e.status, e.body = 201, object{"id": "another"}
			}
		})},
		"create-computer-remote-user": {wrap: on("POST", "/computers", func(e *exchange) {
			if !e.sent.Has("remoteUser") {
				e.status = 400
			}
		})},
		"id-in-body": {wrap: on("POST", "/environments", func(e *exchange) {
			if len(e.sent.Text("sourceId")) > 1000 {
				e.status = 400
			}
		})},
		"cursor-unknown": {wrap: on("GET", "/sessions", func(e *exchange) {
			if strings.Contains(e.query, "cursor") {
				e.status, e.body = 200, object{"sessions": []any{}, "pagination": map[string]any{"hasMore": false}}
			}
		})},
		"session-computer": {wrap: on("POST", "/sessions", instead(400, 404))},
		"account-unknown":  {wrap: on("GET", "/environments", instead(400, 404)), also: []string{"service-account-id-query-parameter"}},
		"api-key-expiry": {wrap: on("POST", "/service-accounts/*/api-keys", func(e *exchange) {
			if at := e.sent.Number("expiresAt"); at > 0 && at < 1e11 {
				e.status, e.body = 201, object{"apiKey": map[string]any{"id": "seconds", "value": "seconds"}}
			}
		})},

		// What the documents state.
		"a revocation is idempotent":                  {wrap: on("POST", "/service-accounts/*/api-keys/*/revoke", func(e *exchange) { e.status += (404 - e.status) * min(e.count-1, 1) })},
		"a listing has all keys, active and inactive": {wrap: on("GET", "/service-accounts/*/api-keys", func(e *exchange) { e.body["apiKeys"] = []any{} })},
		"a registered machine is active at once":      {wrap: on("POST", "/computers", func(e *exchange) { e.body["status"] = "provisioning" })},
		"host IDs are unique among the computers of an owner": {wrap: on("POST", "/computers", func(e *exchange) {
			if e.status == 409 {
				e.status, e.body = 201, object{"id": "a-twin"}
			}
		})},
		"a host ID is assigned once": {wrap: func(next http.Handler) http.Handler {
			return on("PATCH", "/computers/*", instead(409, 200))(on("GET", "/computers/*", func(e *exchange) { e.body["hostId"] = "another" })(next))
		}},
		"a list can be limited to a host ID": {wrap: on("GET", "/computers", func(e *exchange) {
			if strings.Contains(e.query, "hostId") {
				e.body["computers"] = []any{}
			}
		})},
		"a registered machine cannot be restarted": {wrap: on("POST", "/computers/*/restart", instead(400, 200))},
		"a limit is from 1 to 100":                 {wrap: on("GET", "/organization/users", instead(400, 200))},
		"a cursor leads to the next page": {wrap: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if q := r.URL.Query(); strings.HasSuffix(r.URL.Path, "/users") {
					q.Del("cursor")
					r.URL.RawQuery = q.Encode()
				}
				next.ServeHTTP(w, r)
			})
		}},

		// Roles.
		"get-environment":        {wrap: on("GET", "/environments/*", instead(404, 403))},
		"get-global-usage-limit": {wrap: on("GET", "/organization/usage/limits/global", func(e *exchange) { e.status, e.body = 200, object{"limit": nil} })},
		"remove-member":          {wrap: on("DELETE", "/organization/users", instead(403, 404))},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			var concerned []Trial
			for _, trial := range All() {
				isDocumented := trial.Rules == nil && strings.Contains(rule, " ")
				if trial.Variable == "" && (slices.Contains(trial.Rules, rule) || isDocumented) {
					concerned = append(concerned, trial)
				}
			}
			found, _ := try(t, concerned, manager, tc.wrap)
			if found[rule].result != evidence.Refuted {
				t.Errorf("%s is %s: %s", rule, found[rule].result, found[rule].observed)
			}
			for other, v := range found {
				if v.result == evidence.Refuted && other != rule && !slices.Contains(tc.also, other) {
					t.Errorf("%s is refuted too: %s", other, v.observed)
				}
			}
		})
	}
}

// What a trial needs to know, and an answer of another form does not show, refutes nothing. What the trial changed is restored even so.
func TestTrials_otherForms(t *testing.T) {
	t.Parallel()
	for rule, tc := range map[string]struct {
		trials []Trial
		wrap   func(http.Handler) http.Handler
	}{
		"create-computer":            {managedTrials, on("GET", "/computers/providers", func(e *exchange) { delete(e.body, "providers") })},
		"list-ci-repository-owners":  {ciTrials, on("GET", "/automations/ci/repositories", each("repositories", func(o object) { delete(o, "fullName") }))},
		"list-ci-repositories-owner": {ciTrials, on("GET", "/automations/ci/repository-owners", each("owners", func(o object) { delete(o, "login") }))},
		"search-wiki-run":            {wikiTrials, on("GET", "/wiki/*/search", each("results", func(o object) { o["matchCount"] = "2" }))},
		"get-user-usage-limits":      {organizationTrials, on("GET", "/organization/usage/limits/users", func(e *exchange) { e.body["userLimits"] = nil })},
		"default-scope":              {organizationTrials, on("GET", "/environments", func(e *exchange) { e.body = object{"data": map[string]any(e.body)} })},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			if found, _ := try(t, tc.trials, manager, tc.wrap); found[rule].result == evidence.Refuted {
				t.Errorf("%s is refuted: %s", rule, found[rule].observed)
			}
		})
	}
}

// Another run deletes its environment soon, so that this one must not restore it as the default.
func TestTrials_defaultOfAnotherRun(t *testing.T) {
	t.Parallel()
	changes := 0
	found, _ := try(t, organizationTrials, manager, func(next http.Handler) http.Handler {
		renamed := on("GET", "/environments", each("environments", func(o object) { o["name"] = NamePrefix + "another-run" }))(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/environments/default") {
				changes++
			}
			renamed.ServeHTTP(w, r)
		})
	})
	if v := found["set-default-environment"]; v.result != evidence.NotSeen || !strings.Contains(v.observed, "another run") || changes > 0 {
		t.Errorf("set-default-environment is %s: %s; the default was set %d times", v.result, v.observed, changes)
	}
}
