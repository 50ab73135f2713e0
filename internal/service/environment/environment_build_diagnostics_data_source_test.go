package environment_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func diagnosticsOf(environmentID, buildID string) string {
	hcl := "data \"agentyard_environment_build_diagnostics\" \"x\" {\n  environment_id = \"" + environmentID + "\"\n"
	if buildID != "" {
		hcl += "  build_id = \"" + buildID + "\"\n"
	}
	return hcl + "}\n"
}

func diagnosticsAre(environmentID, buildID, status string, excerpt knownvalue.Check, truncated, withheld bool) map[string]knownvalue.Check {
	return map[string]knownvalue.Check{
		"environment_id": text(environmentID), "build_id": text(buildID), "status": text(status), "excerpt": excerpt, "truncated": knownvalue.Bool(truncated), "withheld": knownvalue.Bool(withheld),
	}
}

func TestAccEnvironmentBuildDiagnosticsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const x = "agentyard_environment_build_diagnostics.x"
	made := makeFailed(t, e, "app", emulator.BuildFailure{Excerpt: strings.Repeat("x", 5000) + "the end"})
	short := makeFailed(t, e, "short", emulator.BuildFailure{Excerpt: "make: error"})
	withheld := makeFailed(t, e, "withheld", emulator.BuildFailure{Excerpt: "secret", Withheld: true})
	silent := makeFailed(t, e, "silent", emulator.BuildFailure{})
	end := text(strings.Repeat("x", 4096-len("the end")) + "the end")
	for _, tc := range []struct {
		made      madeEnvironment
		excerpt   knownvalue.Check
		truncated bool
		withheld  bool
	}{{made, end, true, false}, {short, text("make: error"), false, false}, {withheld, null, false, true}, {silent, null, false, false}} {
		want := diagnosticsAre(tc.made.ID, tc.made.BuildID, "failed", tc.excerpt, tc.truncated, tc.withheld)
		e.Run(t, dataStep(e.Config(diagnosticsOf(tc.made.ID, "")), known(x, want)...), dataStep(e.Config(diagnosticsOf(tc.made.ID, tc.made.BuildID)), known(x, want)...))
	}

	// Without a build ID, the latest build is read, and the status is that of the environment.
	var again madeEnvironment
	e.API(http.MethodPost, environmentsRoute+"/"+made.ID+"/builds", nil, &again)
	e.Run(t,
		dataStep(e.Config(diagnosticsOf(made.ID, "")), known(x, diagnosticsAre(made.ID, again.BuildID, "building", null, false, false))...),
		dataStep(e.Config(diagnosticsOf(made.ID, again.BuildID)), known(x, diagnosticsAre(made.ID, again.BuildID, "queued", null, false, false))...),
		dataStep(e.Config(diagnosticsOf(made.ID, made.BuildID)), known(x, diagnosticsAre(made.ID, made.BuildID, "failed", end, true, false))...),
	)
	e.Clock.Advance(buildTime)
	e.Run(t, dataStep(e.Config(diagnosticsOf(made.ID, "")), known(x, diagnosticsAre(made.ID, again.BuildID, "ready", null, false, false))...))
}

func TestAccEnvironmentBuildDiagnosticsDataSource_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := makeEnvironment(e, "app", "user")
	for config, want := range map[string]string{
		e.Config(diagnosticsOf("", "")):       `environment_id\s+must\s+not\s+be\s+empty`,
		e.Config(diagnosticsOf(made.ID, " ")): `getBuildDiagnostics(.|\n)*404`,
		e.Config("data \"agentyard_environment_build_diagnostics\" \"x\" {\n  environment_id = \"a\"\n  build_id = \"\"\n}\n"): `build_id\s+must\s+not\s+be\s+empty`,
		e.Config(diagnosticsOf("env_unknown", "")):                        `environment_id\s*=\s*"env_unknown"(.|\n)*getEnvironmentBuildDiagnostics(.|\n)*404(.|\n)*was\s+not\s+found,\s+or(.|\n)*no\s+build\s+yet`,
		e.Config(diagnosticsOf(made.ID, "bld_unknown")):                   `environment_id\s*=(.|\n)*getBuildDiagnostics(.|\n)*404(.|\n)*or\s+the\s+build\s+was\s+not\s+found`,
		e.Config(diagnosticsOf("..", "")):                                 `Cannot read build diagnostics of the environment(.|\n)*cannot\s+be\s+part`,
		plainUser(t, e)(diagnosticsOf(made.ID, "")):                       `404(.|\n)*API\s+key\s+cannot\s+see\s+it`,
		acctest.ConfigAt(e.URL(), "fk-wrong", diagnosticsOf(made.ID, "")): `401(.|\n)*AGENTYARD_API_KEY`,
	} {
		e.Run(t, dataError(config, want))
	}
	for operation, hcl := range map[string]string{"getEnvironmentBuildDiagnostics": diagnosticsOf(made.ID, ""), "getBuildDiagnostics": diagnosticsOf(made.ID, made.BuildID)} {
		e.Faults().Clear()
		e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: 402, Times: -1})
		e.Run(t, dataError(e.Config(hcl), operation+`(.|\n)*402(.|\n)*Upgrade\s+the\s+plan`))
	}
}
