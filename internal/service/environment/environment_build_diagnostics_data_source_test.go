package environment_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const diagnosticsType = "agentyard_environment_build_diagnostics"

func TestEnvironmentBuildDiagnosticsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	// Without a build ID, the latest build is read, and the status is that of the environment.
	are := func(environment string, build any, is, status string, excerpt any, truncated, withheld bool) {
		t.Helper()
		reads(t, e, nil, diagnosticsType, acctest.Values{"environment_id": environment, "build_id": build}, map[string]any{
			"environment_id": environment, "build_id": is, "status": status, "excerpt": excerpt, "truncated": truncated, "withheld": withheld,
		})
	}
	made := makeFailed(t, e, "app", emulator.BuildFailure{Excerpt: strings.Repeat("x", 5000) + "the end"})
	withheld := makeFailed(t, e, "withheld", emulator.BuildFailure{Excerpt: "secret", Withheld: true})
	end := strings.Repeat("x", 4096-len("the end")) + "the end"
	for _, tc := range []struct {
		made      madeEnvironment
		excerpt   any
		truncated bool
		withheld  bool
	}{{made, end, true, false}, {withheld, nil, false, true}} {
		for _, build := range []any{nil, tc.made.BuildID} {
			are(tc.made.ID, build, tc.made.BuildID, "failed", tc.excerpt, tc.truncated, tc.withheld)
		}
	}
	var again madeEnvironment
	e.API(http.MethodPost, environmentsRoute+"/"+made.ID+"/builds", nil, &again)
	are(made.ID, nil, again.BuildID, "building", nil, false, false)
	are(made.ID, again.BuildID, again.BuildID, "queued", nil, false, false)
	are(made.ID, made.BuildID, made.BuildID, "failed", end, true, false)
	e.Clock.Advance(buildTime)
	are(made.ID, nil, again.BuildID, "ready", nil, false, false)
}

func TestEnvironmentBuildDiagnosticsDataSource_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := makeEnvironment(e, "app", "user").ID
	for _, tc := range []struct {
		environment string
		build       any
		at          string
		want        []string
	}{
		{"", nil, "environment_id", []string{"environment_id must not be empty"}},
		{id, "", "build_id", []string{"build_id must not be empty"}},
		{"env_unknown", nil, "environment_id", []string{"getEnvironmentBuildDiagnostics", "404", "was not found, or", "no build yet"}},
		{id, "bld_unknown", "environment_id", []string{"getBuildDiagnostics", "404", "or the build was not found"}},
		{"..", nil, "", []string{"Cannot read build diagnostics of the environment", "cannot be part"}},
	} {
		failsToRead(t, e, nil, diagnosticsType, acctest.Values{"environment_id": tc.environment, "build_id": tc.build}, tc.at, tc.want...)
	}
}
