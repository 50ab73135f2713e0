package trials

import (
	"net/http"
	"slices"
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
