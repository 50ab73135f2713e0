package environment_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func statusesOf(more string, ids ...string) string {
	for i, id := range ids {
		ids[i] = fmt.Sprintf("%q", id)
	}
	return "data \"agentyard_environment_build_statuses\" \"x\" {\n  environment_ids = [" + strings.Join(ids, ", ") + "]\n" + more + "}\n"
}

func TestAccEnvironmentBuildStatusesDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const x = "agentyard_environment_build_statuses.x"
	type entry struct {
		id    string
		check knownvalue.Check
	}
	is := func(made madeEnvironment, status, buildStatus string, excerpt knownvalue.Check, truncated, withheld bool) entry {
		return entry{made.ID, object(map[string]knownvalue.Check{
			"environment_id": text(made.ID), "environment_status": text(status),
			"latest_build": object(map[string]knownvalue.Check{
				"id": text(made.BuildID), "status": text(buildStatus), "excerpt": excerpt, "truncated": knownvalue.Bool(truncated), "withheld": knownvalue.Bool(withheld),
			}),
		})}
	}
	ordered := func(entries ...entry) knownvalue.Check {
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
		var checks []knownvalue.Check
		for _, entry := range entries {
			checks = append(checks, entry.check)
		}
		return listOf(checks...)
	}
	ready := makeEnvironment(e, "ready", "organization")
	failed := makeFailed(t, e, "failed", emulator.BuildFailure{Excerpt: "make: error"})
	long := makeFailed(t, e, "long", emulator.BuildFailure{Excerpt: strings.Repeat("x", 5000)})
	withheld := makeFailed(t, e, "withheld", emulator.BuildFailure{Excerpt: "secret", Withheld: true})
	building := makeEnvironment(e, "building", "user")
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)

	// Environments that do not exist are omitted.
	e.Run(t, dataStep(e.Config(statusesOf("", "env_unknown", withheld.ID, building.ID, failed.ID, long.ID, ready.ID)), known(x, map[string]knownvalue.Check{
		"service_account_id": null,
		"builds": ordered(
			is(ready, "ready", "succeeded", null, false, false), is(building, "building", "queued", null, false, false), is(failed, "failed", "failed", text("make: error"), false, false),
			is(long, "failed", "failed", text(strings.Repeat("x", 4096)), true, false), is(withheld, "failed", "failed", null, false, true),
		),
	})...))
	e.Run(t, dataStep(e.Config(statusesOf("", "env_unknown")), known(x, map[string]knownvalue.Check{"builds": listOf()})...))

	// A service account does not see the user-scope environments of others.
	as := "  service_account_id = \"" + account.ID + "\"\n"
	e.Run(t, dataStep(e.Config(statusesOf(as, ready.ID, failed.ID)), known(x, map[string]knownvalue.Check{"builds": ordered(is(ready, "ready", "succeeded", null, false, false))})...))

	for config, want := range map[string]string{
		e.Config(statusesOf("")):                                                 `environment_ids\s+set\s+must\s+contain\s+at\s+least\s+1\s+element`,
		e.Config(statusesOf("", "")):                                             `environment_ids(.|\n)*must\s+not\s+be\s+empty`,
		e.Config(statusesOf("  service_account_id = \"\"\n", "env_1")):           `service_account_id\s+must\s+not\s+be\s+empty`,
		e.Config(statusesOf("  service_account_id = \"sa_unknown\"\n", "env_1")): `service_account_id\s*=\s*"sa_unknown"(.|\n)*getEnvironmentBuildStatuses(.|\n)*400`,
		plainUser(t, e)(statusesOf(as, ready.ID)):                                `service_account_id\s*=(.|\n)*getEnvironmentBuildStatuses(.|\n)*403(.|\n)*Manager\s+role`,
		acctest.ConfigAt(e.URL(), "fk-wrong", statusesOf("", ready.ID)):          `Cannot list build statuses of environments(.|\n)*401(.|\n)*AGENTYARD_API_KEY`,
	} {
		e.Run(t, dataError(config, want))
	}
}
