package organization_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const limitsData = "data.agentyard_usage_limits.all"

// limitsAre checks both attributes of the data source.
func limitsAre(address string, global knownvalue.Check, users ...knownvalue.Check) []statecheck.StateCheck {
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue(address, tfjsonpath.New("global_limit"), global),
		statecheck.ExpectKnownValue(address, tfjsonpath.New("user_limits"), knownvalue.ListExact(users)),
	}
}

func userLimit(email string, limit knownvalue.Check) knownvalue.Check {
	return knownvalue.ObjectExact(map[string]knownvalue.Check{"email": knownvalue.StringExact(email), "limit": limit})
}

// Users are ordered by address without case, including those without a limit of their own.
func TestAccUsageLimitsDataSource(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, blake, "Avery@agentyard.example", casey)
	const config = `data "agentyard_usage_limits" "all" {}`
	null, manager := knownvalue.Null(), userLimit("manager@agentyard.example", knownvalue.Null())
	step := func(before func(), checks []statecheck.StateCheck) resource.TestStep {
		return resource.TestStep{PreConfig: before, Config: e.Config(config), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: checks}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{
			step(nil, limitsAre(limitsData, null, userLimit("Avery@agentyard.example", null), userLimit(blake, null), userLimit(casey, null), manager)),
			step(func() { globalLimitElsewhere(e, 9_007_199_254_740_991); limitElsewhere(e, blake, 1_000_000) }, limitsAre(limitsData,
				knownvalue.Int64Exact(9_007_199_254_740_991), userLimit("Avery@agentyard.example", null), userLimit(blake, knownvalue.Int64Exact(1_000_000)), userLimit(casey, null), manager)),
		},
	})
}

// Each member has the limit that applies to them: their own, the global one, or none.
func TestUsageLimitsDataSource_effectiveLimits(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake)
	effective := func() string {
		t.Helper()
		found, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_usage_limits", nil)
		out.MustSucceed(t)
		var rows []tftypes.Value
		acctest.Must(t, found["effective_limits"].As(&rows))
		var text []string
		for _, row := range rows {
			var fields map[string]tftypes.Value
			var email string
			var isDefault bool
			limit := new(big.Float)
			acctest.Must(t, row.As(&fields))
			acctest.Must(t, fields["email"].As(&email))
			acctest.Must(t, fields["is_default"].As(&isDefault))
			acctest.Must(t, fields["limit"].As(&limit))
			text = append(text, fmt.Sprint(email, " ", limit, " ", isDefault))
		}
		slices.Sort(text) // All members are of the same age.
		return strings.Join(text, ", ")
	}
	limitElsewhere(e, "AVERY@agentyard.example", 5_000_000)
	if got := effective(); got != "avery@agentyard.example 5e+06 false, blake@agentyard.example <nil> true, manager@agentyard.example <nil> true" {
		t.Errorf("got %s", got)
	}
	globalLimitElsewhere(e, 2_000_000)
	if got := effective(); got != "avery@agentyard.example 5e+06 false, blake@agentyard.example 2e+06 true, manager@agentyard.example 2e+06 true" {
		t.Errorf("got %s", got)
	}
}
