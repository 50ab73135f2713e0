package organization_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func limitsQuery(name, arguments string) string {
	return fmt.Sprintf("list \"agentyard_user_usage_limit\" %q {\n  provider = agentyard\n%s\n}\n", name, arguments)
}

func TestAccUserUsageLimitList(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := limitEnv(t, casey, "Blake@agentyard.example", avery, "nolimit@agentyard.example")
	globalLimitElsewhere(e, 9_000_000)
	limitElsewhere(e, avery, 2_000_000)
	limitElsewhere(e, blake, 3_000_000)
	limitElsewhere(e, casey, 4_000_000)
	of := func(email string) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{"email": knownvalue.StringExact(email)}
	}
	at := func(list string) string { return userLimitType + "." + list }
	e.Journal().Reset()
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{{
			Query:  true,
			Config: e.Config(limitsQuery("plain", "") + limitsQuery("all", "include_resource = true") + limitsQuery("two", "limit = 2")),
			QueryResultChecks: []querycheck.QueryResultCheck{
				querycheck.ExpectLength(at("plain"), 3), querycheck.ExpectLength(at("all"), 3), querycheck.ExpectLength(at("two"), 2),
				querycheck.ExpectIdentity(at("plain"), of("Blake@agentyard.example")), querycheck.ExpectIdentity(at("two"), of(avery)),
				querycheck.ExpectNoIdentity(at("two"), of(casey)), querycheck.ExpectNoIdentity(at("plain"), of("nolimit@agentyard.example")),
				querycheck.ExpectResourceDisplayName(at("all"), queryfilter.ByResourceIdentity(of("Blake@agentyard.example")), knownvalue.StringExact("Blake@agentyard.example")),
				querycheck.ExpectResourceKnownValues(at("all"), queryfilter.ByResourceIdentity(of("Blake@agentyard.example")), []querycheck.KnownValueCheck{
					{Path: tfjsonpath.New("id"), KnownValue: knownvalue.StringExact("Blake@agentyard.example")},
					{Path: tfjsonpath.New("email"), KnownValue: knownvalue.StringExact("Blake@agentyard.example")},
					{Path: tfjsonpath.New("limit"), KnownValue: knownvalue.Int64Exact(3_000_000)},
				}),
			},
		}},
	})
	if n := len(e.Journal().Entries()); n != e.Journal().Count("getUserUsageLimits") {
		t.Errorf("a query sent more than listings: %+v", e.Journal().Entries())
	}
}
