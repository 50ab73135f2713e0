package environment_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironmentBuildStatusesDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const typeName = "agentyard_environment_build_statuses"
	is := func(made madeEnvironment, status, buildStatus string, excerpt any, truncated, withheld bool) any {
		return map[string]any{
			"environment_id": made.ID, "environment_status": status,
			"latest_build": map[string]any{"id": made.BuildID, "status": buildStatus, "excerpt": excerpt, "truncated": truncated, "withheld": withheld},
		}
	}
	ready := makeEnvironment(e, "ready", "organization")
	long := makeFailed(t, e, "long", emulator.BuildFailure{Excerpt: strings.Repeat("x", 5000)})
	withheld := makeFailed(t, e, "withheld", emulator.BuildFailure{Excerpt: "secret", Withheld: true})
	_, account := e.ServiceAccountKey()

	// Environments that do not exist are omitted, and the others are ordered by ID.
	want := []any{is(ready, "ready", "succeeded", nil, false, false), is(long, "failed", "failed", strings.Repeat("x", 4096), true, false), is(withheld, "failed", "failed", nil, false, true)}
	slices.SortFunc(want, func(a, b any) int {
		return cmp.Compare(a.(map[string]any)["environment_id"].(string), b.(map[string]any)["environment_id"].(string))
	})
	all := []any{"env_unknown", withheld.ID, long.ID, ready.ID}
	reads(t, e, nil, typeName, acctest.Values{"environment_ids": all}, map[string]any{"service_account_id": nil, "builds": want})
	// A service account does not see the user-scope environments of others.
	reads(t, e, nil, typeName, acctest.Values{"environment_ids": all, "service_account_id": account}, map[string]any{"builds": []any{is(ready, "ready", "succeeded", nil, false, false)}})

	reads(t, e, nil, typeName, acctest.Values{"environment_ids": []any{}}, map[string]any{"builds": []any{}}) // Of an organization without environments.

	fails := func(ids []any, account any, at string, want ...string) {
		t.Helper()
		failsToRead(t, e, nil, typeName, acctest.Values{"environment_ids": ids, "service_account_id": account}, at, want...)
	}
	fails([]any{"env_1"}, "sa_unknown", "service_account_id", "getEnvironmentBuildStatuses", "400")
}
