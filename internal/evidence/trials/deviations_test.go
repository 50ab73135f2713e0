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
	"sync"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// exchange is a request and the answer that a deviating server changes.
type exchange struct {
	sent   object // The body of the request.
	status int
	body   object
}

// list is a field of the answer that is a list.
func (e *exchange) list(field string) []any {
	list, _ := e.body[field].([]any)
	return list
}

// on changes the answers to one kind of request. The pattern is that of path.Match.
func on(method, pattern string, change func(e *exchange)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if matches, _ := path.Match("/api/v0"+pattern, r.URL.EscapedPath()); !matches || r.Method != method {
				next.ServeHTTP(w, r)
				return
			}
			sent, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(sent))
			answered := httptest.NewRecorder()
			next.ServeHTTP(answered, r)
			e := &exchange{status: answered.Code}
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

// once changes only the first answer.
func once(change func(e *exchange)) func(e *exchange) {
	var first sync.Once
	return func(e *exchange) { first.Do(func() { change(e) }) }
}

func reversed(field string) func(e *exchange) {
	return func(e *exchange) { slices.Reverse(e.list(field)) }
}

// namesakes accepts names that are taken.
func namesakes(pattern string) func(http.Handler) http.Handler {
	return on("POST", pattern, func(e *exchange) {
		if e.status == 409 {
			e.status, e.body = 201, object{"id": "a-namesake"}
		}
	})
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
		"list-sessions":         {wrap: on("GET", "/sessions", reversed("sessions"))},
		"list-session-messages": {wrap: on("GET", "/sessions/*/messages", reversed("messages"))},

		// Uniqueness and states.
		"computer-name":          {wrap: namesakes("/computers")},
		"create-environment":     {wrap: namesakes("/environments")},
		"create-service-account": {wrap: namesakes("/service-accounts")},
		"body-nothing": {wrap: on("POST", "/service-accounts/*/api-keys/*/revoke", func(e *exchange) {
			if e.sent == nil {
				e.status = 400
			}
		})},
		"rotate-api-key":           {wrap: on("POST", "/service-accounts/*/api-keys/*/rotate", instead(409, 404))},
		"cancel-environment-build": {wrap: on("POST", "/environments/*/builds/*/cancel", instead(409, 200))},
		"create-environment-build": {wrap: on("POST", "/environments/*/builds", instead(409, 400))},
		"delete-environment":       {wrap: on("DELETE", "/environments/*", instead(409, 400))},
		"update-environment": {wrap: on("PATCH", "/environments/*", func(e *exchange) {
			if e.status == 200 {
				e.body["buildId"] = "always"
			}
		})},
		"environment-status":                             {wrap: on("GET", "/environments/*", func(e *exchange) { e.body["status"] = "ready" }), also: []string{"build-status"}},
		"get-user-usage-limits":                          {wrap: on("GET", "/organization/usage/limits/users", func(e *exchange) { e.body["userLimits"] = []any{} })},
		"get-environment-build-statuses-environment-ids": {wrap: on("GET", "/environments/build-statuses", func(e *exchange) { e.body["builds"] = e.list("builds")[:1] })},
		"update-service-account-description":             {wrap: on("GET", "/service-accounts/*", func(e *exchange) { e.body["description"] = "The first." })},

		"inactive-account-keys": {wrap: on("GET", "/computers", instead(401, 200)), also: []string{"deleted-account-keys"}},
		"account-computers":     {wrap: on("DELETE", "/computers/*", once(instead(204, 403)))},

		// Forms of requests.
		"create-computer-remote-user": {wrap: on("POST", "/computers", func(e *exchange) {
			if !e.sent.Has("remoteUser") {
				e.status = 400
			}
		})},
		"session-computer": {wrap: on("POST", "/sessions", instead(400, 404))},
		"api-key-expiry": {wrap: on("POST", "/service-accounts/*/api-keys", func(e *exchange) {
			if at := e.sent.Number("expiresAt"); at > 0 && at < 1e11 {
				e.status, e.body = 201, object{"apiKey": map[string]any{"id": "seconds", "value": "seconds"}}
			}
		})},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			var concerned []Trial
			for _, trial := range All() {
				if trial.Variable == "" && slices.Contains(trial.Rules, rule) {
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

// without removes fields of an object, at any depth.
func without(value any, fields ...string) {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range fields {
			delete(value, field)
		}
		for _, inner := range value {
			without(inner, fields...)
		}
	case []any:
		for _, inner := range value {
			without(inner, fields...)
		}
	}
}

// lacking is a server whose answers to GET lack fields.
func lacking(pattern string, fields ...string) func(http.Handler) http.Handler {
	return on("GET", pattern, func(e *exchange) { without(map[string]any(e.body), fields...) })
}

func chain(wraps ...func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		for _, wrap := range wraps {
			next = wrap(next)
		}
		return next
	}
}

// TestTrials_nothingToSee checks that a rule is not confirmed by what was not there to see: a field that the service never has, a
// state that nothing reached, or a request that was refused like an ordinary one.
func TestTrials_nothingToSee(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rules []string
		wrap  func(http.Handler) http.Handler
	}{
		"no build of an edit": {[]string{"update-environment"}, on("PATCH", "/environments/*", func(e *exchange) {
			if e.sent.Has("setupScript") || e.status == 409 {
				e.status = 403
			}
		})},
		"no superseded build":    {[]string{"build-status"}, lacking("/environments/*/builds/*/diagnostics", "status")},
		"no build takes long":    {[]string{"delete-environment"}, on("DELETE", "/environments/*", instead(409, 204))},
		"no description":         {[]string{"update-service-account-description"}, lacking("/service-accounts/*", "description")},
		"no members":             {[]string{"get-user-usage-limits"}, chain(lacking("/organization/users", "users"), lacking("/organization/usage/limits/users", "userLimits"))},
		"no environments by ID":  {[]string{"get-environment-build-statuses-environment-ids"}, on("GET", "/environments/build-statuses", instead(200, 403))},
		"no settings, no orders": {[]string{"list-sessions"}, on("GET", "/sessions", func(e *exchange) { e.body["sessions"] = e.list("sessions")[:1] })},
		"no key was accepted":    {[]string{"api-key-expiry"}, on("POST", "/service-accounts/*/api-keys", func(e *exchange) { e.status = 400 })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			free := slices.DeleteFunc(All(), func(trial Trial) bool {
				return trial.Variable != "" || !slices.ContainsFunc(tc.rules, func(rule string) bool { return slices.Contains(trial.Rules, rule) })
			})
			found, _ := try(t, free, manager, tc.wrap)
			for _, rule := range tc.rules {
				if v := found[rule]; v.result != evidence.NotSeen {
					t.Errorf("%s is %s: %s", rule, v.result, v.observed)
				}
			}
		})
	}
}
