package trials

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

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
	// unbuilt is an organization in whose list no build began.
	unbuilt := on("GET", "/environments", each("environments", func(o object) {
		o["latestBuild"], o["status"] = map[string]any{"id": "build", "status": "queued"}, "building"
		without(map[string]any(o), "activeRepositories", "activeSource", "lastSuccessfulBuildAt")
	}))
	for name, tc := range map[string]struct {
		rules []string
		wrap  func(http.Handler) http.Handler
	}{
		"no build began":      {[]string{"build-promoted-at", "build-started-at", "build-repositories"}, unbuilt},
		"no time of a change": {[]string{"environment"}, chain(unbuilt, lacking("/environments/*", "updatedAt"))},
		"no source":           {[]string{"create-environment-source-id"}, chain(lacking("/environments/source-options", "id"), on("POST", "/environments", instead(404, 403)), on("POST", "/environments", instead(400, 403)))},
		"no build of an edit": {[]string{"update-environment"}, on("PATCH", "/environments/*", func(e *exchange) {
			if e.sent.Has("setupScript") || e.status == 409 {
				e.status = 403
			}
		})},
		"no superseded build":      {[]string{"build-status"}, lacking("/environments/*/builds/*/diagnostics", "status")},
		"no computer's time":       {[]string{"list-computers"}, on("POST", "/computers", func(e *exchange) { delete(e.body, "createdAt") })},
		"no look-up by name":       {[]string{"get-computer-by-name-name"}, on("GET", "/computers/name/*", func(e *exchange) { e.status = 404 })},
		"no description":           {[]string{"update-service-account-description"}, chain(lacking("/service-accounts/*", "description"), on("PATCH", "/service-accounts/*", instead(400, 403)))},
		"no use of a key":          {[]string{"rotate-api-key-grace-period-minutes"}, chain(on("POST", "/service-accounts/*/api-keys/*/rotate", instead(400, 403)), on("GET", "/computers", failing(3)))},
		"no owner's repositories":  {[]string{"list-ci-repositories-owner"}, on("GET", "/automations/ci/repositories", func(e *exchange) { e.body["repositories"] = []any{} })},
		"no time of a scan":        {[]string{"scan-ci-workflows"}, lacking("/automations/ci/scan", "scannedAt")},
		"no members":               {[]string{"get-user-usage-limits"}, chain(lacking("/organization/users", "users"), lacking("/organization/usage/limits/users", "userLimits"), on("GET", "/organization/usage/limits/users", instead(403, 402)))},
		"no environments by ID":    {[]string{"get-environment-build-statuses-environment-ids"}, chain(lacking("/environments/build-statuses", "builds"), on("POST", "/environments", func(e *exchange) { e.status = 403 }))},
		"no time of wiki runs":     {[]string{"list-wiki-runs"}, chain(lacking("/wiki/history/*", "createdAt"))},
		"no form of a search":      {[]string{"search-wiki-run"}, lacking("/wiki/*/search", "matchCount", "path")},
		"no credits, no settings":  {[]string{"list-sessions", "get-session"}, on("GET", "/sessions", func(e *exchange) { e.body["sessions"] = e.list("sessions")[:1] })},
		"no key was accepted":      {[]string{"api-key-expiry"}, on("POST", "/service-accounts/*/api-keys", func(e *exchange) { e.status = 400 })},
		"no user in the analytics": {[]string{"get-user-analytics"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			free := slices.DeleteFunc(All(), func(trial Trial) bool {
				return trial.Variable != "" || !slices.ContainsFunc(tc.rules, func(rule string) bool { return slices.Contains(trial.Rules, rule) })
			})
			wrap := tc.wrap
			if wrap == nil {
				wrap = analyticsWithoutUsers
			}
			found, _ := try(t, free, manager, wrap)
			for _, rule := range tc.rules {
				if v := found[rule]; v.result != evidence.NotSeen {
					t.Errorf("%s is %s: %s", rule, v.result, v.observed)
				}
			}
		})
	}
}

// What was not seen says which of its causes it was, and the variable that helps against it.
func TestTrials_sayWhatWouldHelp(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule, pattern, field, variable string
	}{
		{"list-sessions", "/sessions", "sessions", Sessions},
		{"list-session-messages", "/sessions/*/messages", "messages", Sessions},
		{"list-wiki-runs", "/wiki", "wikiRuns", Wiki},
	} {
		for want, change := range map[string]func(e *exchange){
			"with " + tc.variable + ", the tests ": func(e *exchange) { e.body[tc.field] = []any{} },
			" was answered 403":                    func(e *exchange) { e.status = 403 },
		} {
			t.Run(tc.rule+want, func(t *testing.T) {
				t.Parallel()
				free := slices.DeleteFunc(All(), func(trial Trial) bool { return trial.Variable != "" || !slices.Contains(trial.Rules, tc.rule) })
				found, _ := try(t, free, manager, on("GET", tc.pattern, change))
				if v := found[tc.rule]; v.result != evidence.NotSeen || !strings.Contains(v.observed, want) {
					t.Errorf("%s is %s: %s, want %q", tc.rule, v.result, v.observed, want)
				}
			})
		}
	}
}

// failing fails from the nth answer on.
func failing(n int) func(e *exchange) {
	return func(e *exchange) {
		if e.count >= n {
			e.status = 403
		}
	}
}

func analyticsWithoutUsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/analytics/users") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"data":[{"date":"2026-02-01"},{"date":"2026-02-01"}]}`))
			return
		}
		next.ServeHTTP(w, r)
	})
}
