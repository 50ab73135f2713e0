package organization_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// Users are ordered by address without case, including those without a limit of their own. Each has the limit that applies to
// them: their own, the global one, or none.
func TestUsageLimitsDataSource(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, blake, "Avery@agentyard.example")
	limitElsewhere(e, "AVERY@agentyard.example", 5_000_000)
	read := func(global any) {
		t.Helper()
		got := e.MustRead(t, nil, "agentyard_usage_limits", nil)
		effective := got["effective_limits"].([]any)
		slices.SortFunc(effective, func(a, b any) int { // All members are of the same age.
			return strings.Compare(a.(map[string]any)["email"].(string), b.(map[string]any)["email"].(string))
		})
		acctest.Is(t, "the limits", got, map[string]any{
			"global_limit": global,
			"user_limits": []any{
				map[string]any{"email": "Avery@agentyard.example", "limit": 5e6}, map[string]any{"email": blake, "limit": nil}, map[string]any{"email": bootstrap, "limit": nil},
			},
			"effective_limits": []any{
				map[string]any{"email": "Avery@agentyard.example", "limit": 5e6, "is_default": false},
				map[string]any{"email": blake, "limit": global, "is_default": true}, map[string]any{"email": bootstrap, "limit": global, "is_default": true},
			},
		})
	}
	read(nil)
	globalLimitElsewhere(e, 9_007_199_254_740_991)
	read(float64(9_007_199_254_740_991))
}
