package environment_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironmentSourceOptionsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const typeName = "agentyard_environment_source_options"
	source := func(id, name string, repositories, scripts bool) any {
		return map[string]any{"id": id, "name": name, "supports_repositories": repositories, "supports_setup_scripts": scripts}
	}
	a := map[string]any{"id": "provider-a", "name": "Provider A", "sources": []any{
		source("source-bare", "Bare image", false, false), source("source-base", "Base image", true, true), source("source-repositories", "Repositories without scripts", true, false),
	}}
	b := map[string]any{"id": "provider-b", "name": "Provider B"}
	reads(t, e, nil, typeName, nil, map[string]any{"providers": []any{a}, "unavailable_providers": []any{b}})
	acctest.Must(t, e.SetSourceProvider("provider-b", true))
	b["sources"] = []any{source("source-other", "Other image", true, true)}
	reads(t, e, nil, typeName, nil, map[string]any{"providers": []any{a, b}, "unavailable_providers": []any{}})
	// A response without providers is an error, because otherwise every source would look unknown.
	e.Faults().Add(emulator.Fault{Operation: "getEnvironmentSourceOptions", Kind: emulator.FaultOtherResponse, Body: `{}`})
	failsToRead(t, e, nil, typeName, nil, "", "Cannot list environment source options", "providers")
}
