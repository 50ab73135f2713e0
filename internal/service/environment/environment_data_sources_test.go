package environment_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var appRepository = []map[string]any{{"url": "https://git.example/acme/app.git", "script": "make"}}

// makeEnvironment creates an environment with one repository. Its build is running.
func makeEnvironment(e *acctest.Env, name, scope string) acctest.Made {
	return e.Make(environmentsRoute, map[string]any{"name": name, "scope": scope, "repositories": appRepository})
}

// makeFailed creates an environment with user scope whose build has failed.
func makeFailed(t *testing.T, e *acctest.Env, name string, f emulator.BuildFailure) acctest.Made {
	t.Helper()
	f.Name = name
	failBuild(t, e, f)
	made := makeEnvironment(e, name, "user")
	e.Clock.Advance(buildTime)
	return made
}

// What a list lacks of a failed build is read alone, also by name, which is no part of a path. That may fail, too. Environments of other users are not found.
func TestEnvironmentDataSource_failedBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := makeEnvironment(e, "a b/../c", "organization")
	makeEnvironment(e, "other", "user")
	e.Clock.Advance(buildTime)
	failBuild(t, e, emulator.BuildFailure{Category: "validation", Reason: "The tests failed.", Excerpt: "1 of 2 failed"})
	edit(e, made.ID)
	e.Clock.Advance(buildTime)
	for _, config := range []acctest.Values{{"id": made.ID}, {"name": "a b/../c"}} {
		got := e.MustRead(t, nil, environmentType, config)
		acctest.MustHave(t, got, map[string]any{"id": made.ID, "status": "failed", "last_successful_build_at": "2026-03-01T12:00:06Z", "updated_at": "2026-03-01T12:01:00Z"})
		acctest.MustHave(t, got["latest_build"].(map[string]any), map[string]any{
			"status": "failed", "trigger": "edit", "failure_category": "validation", "failure_reason": "The tests failed.", "excerpt": "1 of 2 failed",
			"created_at": "2026-03-01T12:01:00Z", "started_at": "2026-03-01T12:01:02Z", "finished_at": "2026-03-01T12:01:04Z", "promoted_at": nil,
		})
	}
	others := acctest.Values{"api_key": e.MemberKey("user@people.example", emulator.RoleUser)}
	e.MustNotRead(t, others, environmentType, acctest.Values{"name": "other"}, "name", "Environment not found")
	e.Refuse("getEnvironment", http.StatusForbidden, -1)
	e.MustNotRead(t, nil, environmentType, acctest.Values{"name": "a b/../c"}, "", "Cannot read environment", "getEnvironment", "403")
}

func TestEnvironmentDataSource_twoOfTheSameName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	own, shared := makeEnvironment(e, "app", "user"), makeEnvironment(e, "app", "organization")
	e.MustNotRead(t, nil, environmentType, acctest.Values{"name": "app"}, "name",
		"Environment is ambiguous", `2 environments are named "app": `, own.ID+" (scope user)", shared.ID+" (scope organization)", "Set id instead")
	acctest.MustHave(t, e.MustRead(t, nil, environmentType, acctest.Values{"id": own.ID}), map[string]any{"scope": "user"})
}

// A service account's environments are found by ID and by name, with one listing.
func TestEnvironmentDataSource_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	var made acctest.Made
	_, body := e.TryWithKey(key, http.MethodPost, environmentsRoute, map[string]any{"name": "dev", "scope": "user", "repositories": appRepository})
	check.Must(t, json.Unmarshal(body, &made))
	shared := makeEnvironment(e, "shared", "organization")
	p := acctest.NewProcess(t, e, nil)
	e.Journal().Reset()
	for want, by := range map[string]acctest.Values{made.ID: {"name": "dev"}, shared.ID: {"id": shared.ID}} {
		by["service_account_id"] = account
		if found, out := p.ReadData(environmentType, by); len(out.Errors) > 0 || !found["id"].Equal(tftypes.NewValue(tftypes.String, want)) {
			t.Errorf("%v: %s", by, out)
		}
	}
	e.WantRequests(t, "listEnvironments", 1)
	e.MustNotRead(t, nil, environmentType, acctest.Values{"name": "dev"}, "name", "No environment named")
	e.MustNotRead(t, nil, environmentType, acctest.Values{"id": made.ID}, "id", "If its owner is a service account, set service_account_id")
	e.MustNotRead(t, nil, environmentType, acctest.Values{"id": "env_none", "service_account_id": account}, "id", "Check the ID. Also check service_account_id.")
	e.MustNotRead(t, nil, environmentType, acctest.Values{"name": "dev", "service_account_id": "sa_none"}, "", "listEnvironments", "sa_none")
}

func TestEnvironmentsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const typeName = "agentyard_environments"
	acctest.MustHave(t, e.MustRead(t, nil, typeName, nil), map[string]any{"environments": []any{}, "default_environment_id": nil})
	makeEnvironment(e, "zebra", "user")
	app := makeEnvironment(e, "app", "organization")
	makeFailed(t, e, "broken", emulator.BuildFailure{Category: "timeout", Reason: "Too slow.", Excerpt: "step 3"})
	mustDefault(t, e, app.ID)
	_, account := e.ServiceAccountKey()
	e.Journal().Reset()
	// A service account sees the organization's environments and its own.
	for _, tc := range []struct {
		account any
		want    []any
	}{{nil, []any{"app", "broken", "zebra"}}, {account, []any{"app"}}} {
		got := e.MustRead(t, nil, typeName, acctest.Values{"service_account_id": tc.account})
		var names []any
		for _, one := range got["environments"].([]any) {
			names = append(names, one.(map[string]any)["name"])
		}
		check.Is(t, fmt.Sprint("what ", tc.account, " sees"), names, tc.want)
		check.Is[any](t, "the default", got["default_environment_id"], app.ID)
	}
	// Reading the reasons of failures would need one request for each environment.
	e.WantRequests(t, "getEnvironment", 0)
}

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
	acctest.MustHave(t, e.MustRead(t, nil, typeName, nil), map[string]any{"providers": []any{a}, "unavailable_providers": []any{b}})
	check.Must(t, e.SetSourceProvider("provider-b", true))
	b["sources"] = []any{source("source-other", "Other image", true, true)}
	acctest.MustHave(t, e.MustRead(t, nil, typeName, nil), map[string]any{"providers": []any{a, b}, "unavailable_providers": []any{}})
	// A response without providers is an error, because otherwise every source would look unknown.
	e.Faults().Add(emulator.Fault{Operation: "getEnvironmentSourceOptions", Kind: emulator.FaultOtherResponse, Body: `{}`})
	e.MustNotRead(t, nil, typeName, nil, "", "Cannot list environment source options", "providers")
}

// Environments that do not exist, or that a service account does not see, are omitted. The others are ordered by ID.
func TestEnvironmentBuildStatusesDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ready, mine := makeEnvironment(e, "ready", "organization").ID, makeEnvironment(e, "mine", "user").ID
	_, account := e.ServiceAccountKey()
	all := []any{"env_unknown", mine, ready}
	for _, tc := range []struct {
		of      []any
		account any
		want    []string
	}{{all, nil, []string{ready, mine}}, {all, account, []string{ready}}, {[]any{}, nil, nil}} { // The last is an organization without environments.
		got := e.MustRead(t, nil, "agentyard_environment_build_statuses", acctest.Values{"environment_ids": tc.of, "service_account_id": tc.account})
		var ids []string
		for _, one := range got["builds"].([]any) {
			ids = append(ids, one.(map[string]any)["environment_id"].(string))
		}
		slices.Sort(tc.want)
		check.Is(t, fmt.Sprint("builds that ", tc.account, " sees"), ids, tc.want)
	}
}

const diagnosticsType = "agentyard_environment_build_diagnostics"

func TestEnvironmentBuildDiagnosticsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	// Without a build ID, the latest build is read, and the status is that of the environment.
	are := func(environment string, build any, is, status string, excerpt any, truncated, withheld bool) {
		t.Helper()
		acctest.MustHave(t, e.MustRead(t, nil, diagnosticsType, acctest.Values{"environment_id": environment, "build_id": build}), map[string]any{
			"environment_id": environment, "build_id": is, "status": status, "excerpt": excerpt, "truncated": truncated, "withheld": withheld,
		})
	}
	made := makeFailed(t, e, "app", emulator.BuildFailure{Excerpt: "the end"})
	withheld := makeFailed(t, e, "withheld", emulator.BuildFailure{Excerpt: "secret", Withheld: true})
	are(made.ID, nil, made.BuildID, "failed", "the end", false, false)
	are(withheld.ID, withheld.BuildID, withheld.BuildID, "failed", nil, false, true)
	again := e.Make(environmentsRoute+"/"+made.ID+"/builds", nil)
	are(made.ID, nil, again.BuildID, "building", nil, false, false)
	are(made.ID, again.BuildID, again.BuildID, "queued", nil, false, false)
	are(made.ID, made.BuildID, made.BuildID, "failed", "the end", false, false)
	e.Clock.Advance(buildTime)
	are(made.ID, nil, again.BuildID, "ready", nil, false, false)
}

func TestEnvironmentBuildDiagnosticsDataSource_unknownBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := makeEnvironment(e, "app", "user").ID
	of := acctest.Values{"environment_id": id, "build_id": "bld_unknown"}
	e.MustNotRead(t, nil, diagnosticsType, of, "environment_id", "getBuildDiagnostics", "404", "or the build was not found")
}
