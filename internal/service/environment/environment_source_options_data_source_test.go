package environment_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAccEnvironmentSourceOptionsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const hcl = `data "agentyard_environment_source_options" "x" {}`
	const x = "agentyard_environment_source_options.x"
	source := func(id, name string, repositories, scripts bool) knownvalue.Check {
		return object(map[string]knownvalue.Check{"id": text(id), "name": text(name), "supports_repositories": knownvalue.Bool(repositories), "supports_setup_scripts": knownvalue.Bool(scripts)})
	}
	provider := func(id, name string) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{"id": text(id), "name": text(name)}
	}
	a, b := provider("provider-a", "Provider A"), provider("provider-b", "Provider B")
	a["sources"] = listOf(source("source-bare", "Bare image", false, false), source("source-base", "Base image", true, true), source("source-repositories", "Repositories without scripts", true, false))
	e.Run(t, dataStep(e.Config(hcl), known(x, map[string]knownvalue.Check{"providers": listOf(object(a)), "unavailable_providers": listOf(object(b))})...))

	acctest.Must(t, e.SetSourceProvider("provider-b", true))
	b["sources"] = listOf(source("source-other", "Other image", true, true))
	e.Run(t, dataStep(e.Config(hcl), known(x, map[string]knownvalue.Check{"providers": listOf(object(a), object(b)), "unavailable_providers": listOf()})...))

	e.Run(t, dataError(acctest.ConfigAt(e.URL(), "fk-wrong", hcl), `Cannot list environment source options(.|\n)*getEnvironmentSourceOptions(.|\n)*401(.|\n)*AGENTYARD_API_KEY`))
	e.Faults().Add(emulator.Fault{Operation: "getEnvironmentSourceOptions", Kind: emulator.FaultStatusBeforeCommit, Status: 403, Times: -1})
	e.Run(t, dataError(e.Config(hcl), `Cannot list environment source options(.|\n)*getEnvironmentSourceOptions(.|\n)*403`))

	for answer, want := range map[string]map[string]knownvalue.Check{
		`{"providers":[]}`: {"providers": listOf(), "unavailable_providers": listOf()},
		`{"providers":[{"id":"p","name":"P"},{"id":"q","name":"Q","sources":[]}],"unavailableProviders":null}`: {
			"providers": listOf(
				object(map[string]knownvalue.Check{"id": text("p"), "name": text("P"), "sources": null}),
				object(map[string]knownvalue.Check{"id": text("q"), "name": text("Q"), "sources": listOf()}),
			),
			"unavailable_providers": listOf(),
		},
	} {
		e.Run(t, dataStep(standIn(t, map[string]string{environmentsRoute + "/source-options": answer})(hcl), known(x, want)...))
	}
	// A response without providers is an error, because otherwise every source would look unknown.
	e.Run(t, dataError(standIn(t, map[string]string{environmentsRoute + "/source-options": `{}`})(hcl), `Cannot list environment source options(.|\n)*providers`))
}
