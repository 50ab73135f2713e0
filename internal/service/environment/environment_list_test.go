package environment_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func environmentsList(name, arguments, config string) string {
	return fmt.Sprintf("list \"agentyard_environment\" %q {\n  provider = agentyard\n%s\n  config {\n%s\n  }\n}\n", name, arguments, config)
}

func TestAccEnvironmentList(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	shared, own := makeEnvironment(e, "app", "organization"), makeEnvironment(e, "mine", "user")
	broken := makeFailed(t, e, "broken", emulator.BuildFailure{Reason: "No.", Excerpt: "make: error"})

	identity := func(made madeEnvironment) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{"id": text(made.ID)}
	}
	at := func(list string) string { return "agentyard_environment." + list }
	named := func(list string, made madeEnvironment, name string) querycheck.QueryResultCheck {
		return querycheck.ExpectResourceDisplayName(at(list), queryfilter.ByResourceIdentity(identity(made)), text(name))
	}
	whole := func(list string, made madeEnvironment, values map[string]knownvalue.Check) querycheck.QueryResultCheck {
		var checks []querycheck.KnownValueCheck
		for name, check := range values {
			checks = append(checks, querycheck.KnownValueCheck{Path: tfjsonpath.New(name), KnownValue: check})
		}
		return querycheck.ExpectResourceKnownValues(at(list), queryfilter.ByResourceIdentity(identity(made)), checks)
	}
	e.Journal().Reset()
	e.Run(t, resource.TestStep{
		Query: true,
		Config: e.Config(environmentsList("plain", "", "") + environmentsList("all", "include_resource = true", "") + environmentsList("two", "limit = 2", "") +
			environmentsList("of_account", "", "service_account_id = \""+account.ID+"\"")),
		QueryResultChecks: []querycheck.QueryResultCheck{
			querycheck.ExpectLength(at("plain"), 3), querycheck.ExpectLength(at("all"), 3), querycheck.ExpectLength(at("two"), 2), querycheck.ExpectLength(at("of_account"), 1),
			querycheck.ExpectIdentity(at("plain"), identity(own)), querycheck.ExpectIdentity(at("of_account"), identity(shared)), querycheck.ExpectNoIdentity(at("of_account"), identity(own)),
			named("all", shared, "app"), named("all", own, "mine"), named("all", broken, "broken"),
			whole("all", shared, map[string]knownvalue.Check{
				"name": text("app"), "scope": text("organization"), "status": text("ready"), "repositories": repositoryIs("make"), "source_id": text("source-base"), "latest_build_id": text(shared.BuildID),
				"wait_for_build": yes, "make_organization_default": null, "timeouts": null, "setup_script": null,
			}),
			whole("all", broken, map[string]knownvalue.Check{"scope": text("user"), "status": text("failed"), "failure_reason": null}),
		},
	})
	if n := len(e.Journal().Entries()); n != e.Journal().Count("listEnvironments") {
		t.Errorf("a query sent more than listings: %+v", e.Journal().Entries())
	}
}

func TestAccEnvironmentList_errors(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	query := func(config, want string) resource.TestStep {
		return resource.TestStep{Query: true, Config: config, ExpectError: regexp.MustCompile(want)}
	}
	robots := environmentsList("x", "", `service_account_id = "sa_unknown"`)
	e.Run(t,
		query(e.Config(environmentsList("x", "", `service_account_id = ""`)), `must not be empty`),
		query(e.Config(robots), `Cannot list environments(.|\n)*listEnvironments(.|\n)*400`),
		query(plainUser(t, e)(robots), `Cannot list environments(.|\n)*403(.|\n)*Manager\s+role`),
		query(acctest.ConfigAt(e.URL(), "fk-wrong", environmentsList("x", "", "")), `Cannot list environments(.|\n)*401`),
	)
}
