package environment_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// unseenDefault answers with a listing of no environments that names a default.
var unseenDefault = map[string]string{environmentsRoute: `{"environments": [], "defaultEnvironmentId": "env_unseen"}`}

// The default may be one that the API key does not see.
func TestDefaultEnvironment_nothingIsListed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	at := func(answers map[string]string) acctest.Values {
		return acctest.Values{"base_url": standInURL(t, answers)}
	}
	named, none := at(unseenDefault), at(map[string]string{environmentsRoute: `{"environments": []}`})
	i := acctest.NewProcess(t, e, named).NewInstance("agentyard_default_environment")
	for range 2 {
		if out := acctest.NewProcess(t, e, named).Apply(i, acctest.Values{"environment_id": "env_unseen"}); len(out.Errors) > 0 || i.Attribute("environment_id") != "env_unseen" {
			t.Fatalf("%s: %s", out, i.State)
		}
	}
	forgotten := i.Clone()
	defaultSaid(t, acctest.NewProcess(t, e, none).Apply(forgotten, nil), "Default Environment Is Not Set", "No default environment is set.")
	defaultSaid(t, acctest.NewProcess(t, e, none).Destroy(i), "Default Environment Was Left as It Is", "has no default environment now")
	if !i.State.IsNull() || !forgotten.State.IsNull() {
		t.Errorf("the states are %s and %s", i.State, forgotten.State)
	}
}

func TestAccEnvironmentsDataSource_nothingIsListed(t *testing.T) {
	t.Parallel()
	runData(t, acctest.New(t), dataStep(standIn(t, unseenDefault)(`data "agentyard_environments" "x" {}`),
		known("agentyard_environments.x", map[string]knownvalue.Check{"environments": listOf(), "default_environment_id": text("env_unseen")})...))
}
