package environment_test

import (
	"maps"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestEnvironment_eachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := e.NewInstance(t, environmentType)
	two := repositories("app", "make all", "tools", "true")
	const patch, replace = "updateEnvironment", "deleteEnvironment createEnvironment"
	for n, step := range []struct {
		more       acctest.Values
		action     acctest.Action
		sent       string
		name, want string // An attribute in the state.
	}{
		{acctest.Values{"name": "dev", "repositories": repositories("app", "make")}, "create", "createEnvironment", "source_id", "source-base"},
		{acctest.Values{"repositories": repositories("app", "make")}, "update", patch, "name", "renamed"},
		{acctest.Values{"repositories": repositories("app", "make all")}, "update", patch, "scope", "user"},
		{nil, "update", patch, "setup_script", ""},
		// The order of repositories is ignored.
		{acctest.Values{"repositories": repositories("tools", "true", "app", "make all")}, "none", "", "status", "ready"},
		{acctest.Values{"setup_script": "one"}, "update", patch, "setup_script", "one"},
		{acctest.Values{"setup_script": "two"}, "update", patch, "setup_script", "two"},
		{nil, "update", patch, "setup_script", ""},
		{acctest.Values{"source_id": "source-repositories"}, "update", patch, "source_id", "source-repositories"},
		// When the attributes are removed from the configuration, the service's values are kept.
		{nil, "none", "", "source_id", "source-repositories"},
		{acctest.Values{"scope": "user"}, "none", "", "scope", "user"},
		{acctest.Values{"scope": "organization"}, "replace", replace, "scope", "organization"},
		{nil, "none", "", "scope", "organization"},
		// Changes to attributes of the provider send no request.
		{acctest.Values{"wait_for_build": false}, "update", "", "status", "ready"},
		{acctest.Values{"wait_for_build": false, "timeouts": map[string]any{"update": "3m"}}, "update", "", "status", "ready"},
		{acctest.Values{"wait_for_build": false, "repositories": repositories("app", "make")}, "update", patch, "status", "building"},
		{acctest.Values{"wait_for_build": true, "repositories": repositories("app", "make")}, "update", "", "status", "ready"},
	} {
		config := acctest.Values{"name": "renamed", "repositories": two}
		maps.Copy(config, step.more)
		e.Journal().Reset()
		e.Apply(t, i, config).MustDo(t, step.action)
		if got := changesSent(e); got != step.sent || i.Attribute(step.name) != step.want || onlyEnv(t, e).ID != i.ID() {
			t.Errorf("step %d sent %q; the state is %s", n, got, i.State)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
}
