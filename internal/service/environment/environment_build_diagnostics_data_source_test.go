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
	are(made.ID, nil, made.BuildID, "failed", end, true, false)
	are(withheld.ID, nil, withheld.BuildID, "failed", nil, false, true)
	are(withheld.ID, withheld.BuildID, withheld.BuildID, "failed", nil, false, true)
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
	fails := func(environment string, build any, at string, want ...string) {
		t.Helper()
		failsToRead(t, e, nil, diagnosticsType, acctest.Values{"environment_id": environment, "build_id": build}, at, want...)
	}
	fails("env_unknown", nil, "environment_id", "getEnvironmentBuildDiagnostics", "404", "was not found, or", "no build yet")
	fails(id, "bld_unknown", "environment_id", "getBuildDiagnostics", "404", "or the build was not found")
}
