package environment_test

import (
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
		read, out := acctest.NewProcess(t, e, nil).ReadData(typeName, acctest.Values{"service_account_id": tc.account})
		mustBeSilent(t, out)
		got := acctest.Plainly(t, read)
		listed := got["environments"].([]any)
		if len(listed) != len(tc.want) || got["default_environment_id"] != app.ID {
			t.Fatalf("%v: %v", tc.account, got)
		}
		for k, fields := range tc.want {
			one := listed[k].(map[string]any)
			for n, name := range []string{"name", "scope", "status", "is_default", "failure_reason"} {
				if one[name] != fields[n] {
					t.Errorf("%v: %s is %v, want %v", tc.want[k], name, one[name], fields[n])
				}
			}
		}
	}
	// Reading the reasons of failures would need one request for each environment.
	e.WantRequests(t, "getEnvironment", 0)
	failsToRead(t, e, nil, typeName, acctest.Values{"service_account_id": "sa_unknown"}, "service_account_id", "listEnvironments", "400")
	failsToRead(t, e, nil, typeName, acctest.Values{"service_account_id": ""}, "service_account_id", "service_account_id must not be empty")
}
