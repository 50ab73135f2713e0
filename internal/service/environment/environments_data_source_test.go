package environment_test

import (
	"reflect"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironmentsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const typeName = "agentyard_environments"
	reads(t, e, nil, typeName, nil, map[string]any{"environments": []any{}, "default_environment_id": nil})
	makeEnvironment(e, "zebra", "user")
	app := makeEnvironment(e, "app", "organization")
	makeFailed(t, e, "broken", emulator.BuildFailure{Category: "timeout", Reason: "Too slow.", Excerpt: "step 3"})
	mustDefault(t, e, app.ID)
	_, account := e.ServiceAccountKey()
	e.Journal().Reset()
	// A service account sees the organization's environments and its own.
	for _, tc := range []struct {
		account any
		want    [][]any
	}{
		{nil, [][]any{{"app", "organization", "ready", true, nil}, {"broken", "user", "failed", false, nil}, {"zebra", "user", "ready", false, nil}}},
		{account, [][]any{{"app", "organization", "ready", true, nil}}},
	} {
		got := e.MustRead(t, nil, typeName, acctest.Values{"service_account_id": tc.account})
		listed := [][]any{}
		for _, one := range got["environments"].([]any) {
			one := one.(map[string]any)
			listed = append(listed, []any{one["name"], one["scope"], one["status"], one["is_default"], one["failure_reason"]})
		}
		if !reflect.DeepEqual(listed, tc.want) || got["default_environment_id"] != app.ID {
			t.Errorf("%v: %v", tc.account, got)
		}
	}
	// Reading the reasons of failures would need one request for each environment.
	e.WantRequests(t, "getEnvironment", 0)
	failsToRead(t, e, nil, typeName, acctest.Values{"service_account_id": "sa_unknown"}, "service_account_id", "listEnvironments", "400")
}
