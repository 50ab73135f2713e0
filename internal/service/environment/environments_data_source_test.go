package environment_test

import (
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAccEnvironmentsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const hcl = `data "agentyard_environments" "x" {}`
	const x = "agentyard_environments.x"
	e.Run(t, dataStep(e.Config(hcl), known(x, map[string]knownvalue.Check{"environments": listOf(), "default_environment_id": null})...))

	zebra, app := makeEnvironment(e, "zebra", "user"), makeEnvironment(e, "app", "organization")
	broken := makeFailed(t, e, "broken", emulator.BuildFailure{Category: "timeout", Reason: "Too slow.", Excerpt: "step 3"})
	e.API(http.MethodPut, environmentsRoute+"/default", map[string]any{"environmentId": app.ID}, nil)
	is := func(made madeEnvironment, name, scope, status string, isDefault bool) knownvalue.Check {
		return knownvalue.ObjectPartial(map[string]knownvalue.Check{
			"id": text(made.ID), "name": text(name), "scope": text(scope), "status": text(status), "is_default": knownvalue.Bool(isDefault), "source": baseSource, "repositories": repositoryIs("make"),
			"failure_reason": null, "latest_build": knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": text(made.BuildID), "failure_reason": null, "failure_category": null, "excerpt": null}),
		})
	}
	e.Journal().Reset()
	e.Run(t, dataStep(e.Config(hcl), known(x, map[string]knownvalue.Check{
		"environments":           listOf(is(app, "app", "organization", "ready", true), is(broken, "broken", "user", "failed", false), is(zebra, "zebra", "user", "ready", false)),
		"default_environment_id": text(app.ID), "service_account_id": null,
	})...))
	// Reading the reasons of failures would need one request for each environment.
	e.WantRequests(t, "getEnvironment", 0)

	// A service account sees the organization's environments and its own.
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	of := func(account string) string {
		return "data \"agentyard_environments\" \"x\" {\n  service_account_id = \"" + account + "\"\n}\n"
	}
	e.Run(t,
		dataStep(e.Config(of(account.ID)), known(x, map[string]knownvalue.Check{"environments": listOf(is(app, "app", "organization", "ready", true)), "default_environment_id": text(app.ID)})...),
		dataError(e.Config(of("sa_unknown")), `service_account_id\s*=\s*"sa_unknown"(.|\n)*listEnvironments(.|\n)*400`),
		dataError(e.Config(of("")), `service_account_id\s+must\s+not\s+be\s+empty`),
		dataError(plainUser(t, e)(of(account.ID)), `Cannot list environments(.|\n)*service_account_id\s*=(.|\n)*403(.|\n)*Manager\s+role`),
		dataError(acctest.ConfigAt(e.URL(), "fk-wrong", hcl), `Cannot list environments(.|\n)*listEnvironments(.|\n)*401(.|\n)*AGENTYARD_API_KEY`),
	)
	e.Faults().Add(emulator.Fault{Operation: "listEnvironments", Kind: emulator.FaultStatusBeforeCommit, Status: 503, Times: -1})
	e.Run(t, dataError(e.Config(hcl), `Cannot list environments(.|\n)*listEnvironments(.|\n)*503`))
}
