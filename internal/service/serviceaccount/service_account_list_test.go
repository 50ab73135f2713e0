package serviceaccount_test

import (
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func queryStep(e *acctest.Env, hcl string, checks ...querycheck.QueryResultCheck) resource.TestStep {
	return resource.TestStep{Query: true, Config: e.Config(hcl), QueryResultChecks: checks}
}

// byIdentity returns a filter for the results of a query.
func byIdentity(attributes map[string]string) queryfilter.QueryFilter {
	checks := map[string]knownvalue.Check{}
	for name, value := range attributes {
		checks[name] = knownvalue.StringExact(value)
	}
	return queryfilter.ByResourceIdentity(checks)
}

func attributeIs(name string, check knownvalue.Check) querycheck.KnownValueCheck {
	return querycheck.KnownValueCheck{Path: tfjsonpath.New(name), KnownValue: check}
}

func TestAccServiceAccountList(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.New(t)
	id := newAccount(e, "a")
	e.API(http.MethodPatch, "/api/v0/service-accounts/"+id, map[string]any{"description": "builds", "status": "inactive"}, nil)
	newAccount(e, "b")
	newAccount(e, "c")
	of := byIdentity(map[string]string{"id": id})
	const address = "agentyard_service_account.test"
	e.Run(t,
		queryStep(e, "list \"agentyard_service_account\" \"test\" {\n  provider = agentyard\n  include_resource = true\n}",
			querycheck.ExpectLength(address, 3),
			querycheck.ExpectIdentity(address, map[string]knownvalue.Check{"id": knownvalue.StringExact(id)}),
			querycheck.ExpectResourceDisplayName(address, of, knownvalue.StringExact("a")),
			querycheck.ExpectResourceKnownValues(address, of, []querycheck.KnownValueCheck{
				attributeIs("name", knownvalue.StringExact("a")), attributeIs("description", knownvalue.StringExact("builds")), attributeIs("status", knownvalue.StringExact("inactive")),
			}),
		),
		queryStep(e, "list \"agentyard_service_account\" \"test\" {\n  provider = agentyard\n  limit = 2\n}", querycheck.ExpectLength(address, 2)),
	)
}

// The configuration that a query generates imports all accounts of an organization.
func TestAccServiceAccountList_generatedConfigurationPlansClean(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.NewRealTime(t)
	newAccount(e, "plain")
	id := newAccount(e, "with \"everything\" ${x}")
	e.API(http.MethodPatch, "/api/v0/service-accounts/"+id, map[string]any{"description": "two\nlines", "status": "inactive"}, nil)
	cli := acctest.NewCLI(t, e, "")
	cli.Write("all.tfquery.hcl", acctest.Example(t, "list-resources/agentyard_service_account/list-resource.tfquery.hcl"))
	cli.MustRun("query", "-generate-config-out=generated.tf")
	acctest.Says(t, cli.MustRun("plan", "-input=false").Output, "Plan: 2 to import, 0 to add, 0 to change, 0 to destroy.")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
}
