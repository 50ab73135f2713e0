package serviceaccount_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func stepThenEmpty(e *acctest.Env, hcl string, before func(), checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{PreConfig: before, Config: e.Config(hcl), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: checks}
}

func TestAccServiceAccountDataSource_byIDAndByName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	newAccount(e, "other")
	id := newAccount(e, "ci / ../x")
	e.API(http.MethodPatch, "/api/v0/service-accounts/"+id, map[string]any{"description": "builds", "status": "inactive"}, nil)
	is := func(name, attribute, want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.agentyard_service_account."+name, tfjsonpath.New(attribute), knownvalue.StringExact(want))
	}
	e.Run(t, stepThenEmpty(e, `
data "agentyard_service_account" "by_id" {
  id = "`+id+`"
}
data "agentyard_service_account" "by_name" {
  name = "ci / ../x"
}`, nil,
		is("by_id", "name", "ci / ../x"), is("by_id", "description", "builds"), is("by_id", "status", "inactive"),
		is("by_name", "id", id), is("by_name", "description", "builds"), is("by_name", "status", "inactive"),
	))
}

// The contract does not say whether account names are unique. In the emulator they are, so another server simulates the
// service.
func TestAccServiceAccountDataSource_twoOfTheSameName(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"serviceAccounts":[{"id":"sa_2","name":"ci","status":"active"},{"id":"sa_1","name":"ci","status":"active"}]}`))
	}))
	t.Cleanup(server.Close)
	e := acctest.New(t)
	e.Run(t, resource.TestStep{
		Config:      "provider \"agentyard\" {\n  base_url = \"" + server.URL + "\"\n  api_key  = \"fk-x\"\n}\ndata \"agentyard_service_account\" \"x\" {\n  name = \"ci\"\n}\n",
		ExpectError: regexp.MustCompile(`Service Account Is Ambiguous(.|\n)*2\s+service\s+accounts(.|\n)*sa_1,\s+sa_2(.|\n)*Set\s+id\s+instead`),
	})
}

func TestAccServiceAccountsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	all := func(checks ...knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.agentyard_service_accounts.x", tfjsonpath.New("service_accounts"), knownvalue.ListExact(checks))
	}
	const hcl = `data "agentyard_service_accounts" "x" {}`
	e.Run(t, stepThenEmpty(e, hcl, nil, all()))
	for _, name := range []string{"c", "a", "b"} {
		newAccount(e, name)
	}
	named := func(name string) knownvalue.Check {
		return knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": knownvalue.StringRegexp(regexp.MustCompile(`^sa_`)), "name": knownvalue.StringExact(name), "description": knownvalue.Null(), "status": knownvalue.StringExact("active"),
		})
	}
	e.Run(t, stepThenEmpty(e, hcl, nil, all(named("a"), named("b"), named("c"))))
}
